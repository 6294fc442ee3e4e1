/// Base64 (RFC 4648, sections 4 and 5), as credentials are sent in it and as texts may repeat them.
enum Base64Digits {
    private static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The digits that `bytes` always have, wherever they stand in what is encoded. `skipped` is how many bytes come
    /// before them, modulo 3. Digits that also depend on the bytes around are left out.
    static func inner(_ bytes: [UInt8], after skipped: Int) -> [UInt8] {
        let padded = [UInt8](repeating: 0, count: skipped) + bytes
        let first = (skipped * 8 + 5) / 6
        let last = padded.count * 8 / 6
        return first < last ? (first..<last).map { standard[sixBits(of: padded, at: $0)] } : []
    }

    private static func sixBits(of bytes: [UInt8], at digit: Int) -> Int {
        let bit = digit * 6
        let high = UInt16(bytes[bit / 8]) << 8
        let low = bit / 8 + 1 < bytes.count ? UInt16(bytes[bit / 8 + 1]) : 0
        return Int((high | low) >> (10 - bit % 8) & 0x3F)
    }

    /// The bytes of a text in either alphabet, with or without padding; nil if it is not base64.
    static func decoded(_ text: some StringProtocol) -> [UInt8]? {
        var (bytes, bits, count) = ([UInt8](), 0 as UInt32, 0)
        for digit in text.utf8 {
            if digit == UInt8(ascii: "=") { break }
            guard let value = value(of: digit) else { return nil }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    /// What a digit of either alphabet stands for.
    static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
