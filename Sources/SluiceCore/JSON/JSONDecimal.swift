/// A number's text taken apart, so that two texts can be compared for being the same number without rounding either.
struct JSONDecimal: Hashable {
    private var negative = false
    /// The digits without zeros at either end; none for zero.
    private var digits: [UInt8] = []
    /// The power of ten of the last digit, or the exponent's own text where it is beyond `Int`.
    private var exponent = 0
    private var hugeExponent = ""

    init(_ text: String) {
        var exponentText = Substring()
        var mantissa = Substring(text)
        if let mark = text.firstIndex(where: { $0 == "e" || $0 == "E" }) {
            mantissa = text[..<mark]
            exponentText = text[text.index(after: mark)...]
        }
        var point = 0
        var afterPoint = false
        for byte in mantissa.utf8 {
            switch byte {
            case UInt8(ascii: "-"): negative = true
            case UInt8(ascii: "."): afterPoint = true
            default:
                digits.append(byte)
                if afterPoint { point += 1 }
            }
        }
        digits.removeFirst(digits.prefix { $0 == UInt8(ascii: "0") }.count)
        let idle = digits.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        digits.removeLast(idle)
        if digits.isEmpty {
            negative = false
        } else if let written = Int(exponentText.isEmpty ? "0" : exponentText), written.magnitude < 1 << 62 {
            exponent = written - point + idle
        } else {
            hugeExponent = String(exponentText)
            exponent = idle - point
        }
    }
}
