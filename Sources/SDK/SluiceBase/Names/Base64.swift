/// Bytes as hexadecimal digits (RFC 4648, section 8).
package enum Base16 {
    /// Returns the bytes in small letters, two digits for each.
    package static func text(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digit($0 >> 4), digit($0 & 15)] }, as: UTF8.self)
    }

    /// Returns the bytes of a text in small letters or capitals; nil for any other text.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var output: [UInt8] = []
        var high: UInt8?
        for byte in text.utf8 {
            guard let value = value(of: byte) else { return nil }
            if let first = high {
                output.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? output : nil
    }

    /// Returns the digit of a value below 16.
    package static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

    /// Returns the value of a hexadecimal digit; nil for any other byte.
    package static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - 0x30
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - 0x57
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - 0x37
        default: nil
        }
    }
}

/// Bytes as base64: with padding (RFC 4648, section 4), or for addresses, without it (section 5).
package enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func text(_ bytes: some Collection<UInt8>) -> String {
        let output = unpadded(bytes)
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - output.count % 4) % 4)
        return String(decoding: output + padding, as: UTF8.self)
    }

    package static func addressText(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: unpadded(bytes).map(addressDigit), as: UTF8.self)
    }

    /// Returns the digit of the address alphabet (RFC 4648, section 5).
    package static func addressDigit(_ digit: UInt8) -> UInt8 {
        switch digit {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: digit
        }
    }

    /// Returns the bytes of a text in either alphabet, padded or not; nil if it is not base64.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        let padding = text.utf8.dropFirst(digits.count)
        guard let (bytes, isWhole) = decoded(digits), isWhole, padding.count <= 2,
            padding.allSatisfy({ $0 == UInt8(ascii: "=") })
        else { return nil }
        return bytes
    }

    /// Returns the bytes of a text as lenient readers take it: up to its padding, with any last bits.
    package static func lenientBytes(_ text: some StringProtocol) -> [UInt8]? {
        decoded(text.utf8.prefix { $0 != UInt8(ascii: "=") })?.bytes
    }

    /// - Returns: the bytes, and whether no bit is left over.
    private static func decoded(_ digits: some Sequence<UInt8>) -> (bytes: [UInt8], isWhole: Bool)? {
        var output: [UInt8] = []
        var (bits, count) = (0 as UInt32, 0 as UInt32)
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                output.append(UInt8(truncatingIfNeeded: bits >> count))
                bits &= 1 << count - 1
            }
        }
        return (output, count < 6 && bits == 0)
    }

    /// Returns the value of a digit of either alphabet; nil for any other byte.
    package static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// Returns the digits that `bytes` always produce inside a longer text, with any neighbours. `skipped` is the
    /// number of bytes before them, modulo 3. Digits that also depend on the neighbours are left out.
    package static func inner(_ bytes: [UInt8], after skipped: Int) -> [UInt8] {
        let first = (skipped * 8 + 5) / 6
        let last = (skipped + bytes.count) * 8 / 6
        guard first < last else { return [] }
        return Array(unpadded([UInt8](repeating: 0, count: skipped) + bytes)[first..<last])
    }

    private static func unpadded(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity((bytes.count + 2) / 3 * 4)
        var (bits, count) = (0 as UInt32, 0 as UInt32)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                output.append(digits[Int(bits >> count & 63)])
            }
            bits &= 1 << count - 1
        }
        if count > 0 { output.append(digits[Int(bits << (6 - count) & 63)]) }
        return output
    }
}
