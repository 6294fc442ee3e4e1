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

    /// The number, if it is an integer within `Integer`.
    func integer<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) -> Integer? {
        if digits.isEmpty { return 0 }
        // No type here has more than 40 digits: a longer number must not be written out.
        guard hugeExponent.isEmpty, (0..<40).contains(exponent), digits.count + exponent <= 40 else { return nil }
        let text = String(decoding: digits, as: UTF8.self) + String(repeating: "0", count: exponent)
        return Integer((negative ? "-" : "") + text)
    }
}
