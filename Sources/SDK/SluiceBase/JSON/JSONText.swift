#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Byte operations on JSON strings, for the reader and the printer.
enum JSONText {
    /// Returns the first index at or after `from` without plain text: a quote, a backslash, a control character or a
    /// byte of a multi-byte character. It compares eight bytes at a time while eight are left.
    @inline(__always)
    static func plainEnd(_ bytes: UnsafeBufferPointer<UInt8>, from: Int) -> Int {
        guard let base = bytes.baseAddress else { return from }
        var index = from
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        while index + 8 <= bytes.count {
            let word = UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self)
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            // A byte's high bit is set here if the byte is a quote, a backslash, below 0x20 or above 0x7F.
            let special =
                ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | ((word &- (ones &* 0x20)) & ~word)
                | word
            let found = special & highs
            // A borrow can set a wrong mark only above a true one, so the lowest mark is right.
            if found != 0 { return index + UInt64(littleEndian: found).trailingZeroBitCount >> 3 }
            index += 8
        }
        while index < bytes.count {
            let byte = base[index]
            if byte == 0x22 || byte == 0x5C || byte < 0x20 || byte >= 0x80 { break }
            index += 1
        }
        return index
    }

    /// Returns the length of the UTF-8 sequence at `index`, or nil if it is not valid (Unicode 15, table 3-7).
    static func scalarLength(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int? {
        func continuation(_ offset: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
            index + offset < bytes.count && range.contains(bytes[index + offset])
        }
        switch bytes[index] {
        case 0x00...0x7F: return 1
        case 0xC2...0xDF: return continuation(1) ? 2 : nil
        case 0xE0: return continuation(1, 0xA0...0xBF) && continuation(2) ? 3 : nil
        case 0xED: return continuation(1, 0x80...0x9F) && continuation(2) ? 3 : nil
        case 0xE1...0xEF: return continuation(1) && continuation(2) ? 3 : nil
        case 0xF0: return continuation(1, 0x90...0xBF) && continuation(2) && continuation(3) ? 4 : nil
        case 0xF4: return continuation(1, 0x80...0x8F) && continuation(2) && continuation(3) ? 4 : nil
        case 0xF1...0xF3: return continuation(1) && continuation(2) && continuation(3) ? 4 : nil
        default: return nil
        }
    }

    @inline(__always)
    static func equal(_ bytes: UnsafeBufferPointer<UInt8>, _ first: Int, _ second: Int, count: Int) -> Bool {
        guard let base = bytes.baseAddress else { return true }
        return memcmp(base + first, base + second, count) == 0
    }
    /// Returns whether `bytes` have `other` at `first`; at least that many bytes must be left.
    @inline(__always)
    static func equal(
        _ bytes: UnsafeBufferPointer<UInt8>, _ first: Int, _ other: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard let base = bytes.baseAddress, let start = other.baseAddress else { return other.isEmpty }
        return memcmp(base + first, start, other.count) == 0
    }
}
