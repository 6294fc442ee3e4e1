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
