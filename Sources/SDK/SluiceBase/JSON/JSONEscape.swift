/// The escapes of JSON strings (RFC 8259, section 7).
package enum JSONEscape {
    /// Returns the length of the escape at `index` (a surrogate pair counts as one), or nil if it is invalid.
    static func length(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int? {
        guard index + 1 < bytes.count else { return nil }
        switch bytes[index + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return 2
        case UInt8(ascii: "u"):
            guard let unit = codeUnit(bytes, at: index) else { return nil }
            switch unit {
            case 0xD800...0xDBFF:
                guard let low = codeUnit(bytes, at: index + 6), (0xDC00...0xDFFF).contains(low) else { return nil }
                return 12
            case 0xDC00...0xDFFF: return nil
            default: return 6
            }
        default: return nil
        }
    }

    /// Returns whether the escape at `index` is half of a surrogate pair.
    static func isSurrogate(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        codeUnit(bytes, at: index).map { (0xD800...0xDFFF).contains($0) } ?? false
    }

    static func isNull(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        codeUnit(bytes, at: index) == 0
    }

    /// Returns the value of the `\uXXXX` at `index`, or nil if there is none.
    private static func codeUnit(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt16? {
        guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        var value: UInt16 = 0
        for byte in bytes[index + 2..<index + 6] {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    /// Returns the text of a string's bytes as read by ``JSONTape``. Invalid Unicode becomes U+FFFD, and of an unknown
    /// escape the backslash is left out.
    package static func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: bytes.count) { decode(bytes, into: $0) }
    }

    /// Writes the text of a string's bytes as read by ``JSONTape``, and returns its length. The text is never longer
    /// than the bytes: `output` must have that much room.
    package static func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        var written = 0
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count else {
                output[written] = bytes[index]
                written += 1
                index += 1
                continue
            }
            switch bytes[index + 1] {
            case UInt8(ascii: "b"): output[written] = 0x08
            case UInt8(ascii: "f"): output[written] = 0x0C
            case UInt8(ascii: "n"): output[written] = 0x0A
            case UInt8(ascii: "r"): output[written] = 0x0D
            case UInt8(ascii: "t"): output[written] = 0x09
            case UInt8(ascii: "u") where codeUnit(bytes, at: index) != nil:
                let high = UInt32(codeUnit(bytes, at: index) ?? 0xFFFD)
                var scalar = high
                if (0xD800...0xDBFF).contains(high), let low = codeUnit(bytes, at: index + 6),
                    (0xDC00...0xDFFF).contains(low)
                {
                    scalar = 0x10000 + (high - 0xD800) << 10 + (UInt32(low) - 0xDC00)
                    index += 6
                }
                for unit in UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}") ?? .init() {
                    output[written] = unit
                    written += 1
                }
                index += 6
                continue
            case let plain: output[written] = plain
            }
            written += 1
            index += 2
        }
        return written
    }

    /// Appends `text` as a JSON string, quotes included. Only the characters that JSON requires are escaped.
    package static func append(_ text: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        var index = 0
        while index < text.count {
            var end = JSONText.plainEnd(text, from: index)
            while end < text.count, text[end] >= 0x80 { end = JSONText.plainEnd(text, from: end + 1) }
            output.append(contentsOf: UnsafeBufferPointer(rebasing: text[index..<end]))
            guard end < text.count else { break }
            output.append(UInt8(ascii: "\\"))
            switch text[end] {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(text[end])
            case 0x08: output.append(UInt8(ascii: "b"))
            case 0x0C: output.append(UInt8(ascii: "f"))
            case 0x0A: output.append(UInt8(ascii: "n"))
            case 0x0D: output.append(UInt8(ascii: "r"))
            case 0x09: output.append(UInt8(ascii: "t"))
            case let control:
                let low = control & 0xF
                output.append(contentsOf: "u00".utf8)
                output.append(UInt8(ascii: "0") + control >> 4)
                output.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
            }
            index = end + 1
        }
        output.append(UInt8(ascii: "\""))
    }
}
