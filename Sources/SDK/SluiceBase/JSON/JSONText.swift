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

/// The faults of a service's answer that is read as a document and then passed on as a page. The document has a mark in
/// their place; the page has a fault of the same kind, so that it sets their rows aside.
package enum MarkedFaults {
    /// Returns the mark, a text between two characters of private use, which no text should hold.
    private static func mark(_ kind: JSONFault.Kind) -> String { "\u{10FFFD}broken \(kind)\u{10FFFD}" }

    /// Returns the document with a mark in the place of each fault; nil where there is none, or where it is not JSON for
    /// another reason.
    package static func marked(_ bytes: [UInt8]) -> [UInt8]? {
        var found: [JSONFault]? = []
        let tape = bytes.withUnsafeBufferPointer { try? JSONTape($0, faults: &found) }
        guard tape != nil, let faults = found, !faults.isEmpty else { return nil }
        var marked: [UInt8] = []
        marked.reserveCapacity(bytes.count)
        var position = 0
        for fault in faults where fault.start >= position {
            marked += bytes[position..<Int(fault.start)]
            position = Int(fault.start)
            if fault.kind == .word {
                marked += "\"\(mark(.word))\"".utf8
                while JSONTapeReader.isOfWord(bytes[position]) { position += 1 }
            } else {
                marked += mark(fault.kind).utf8
                while bytes[position] != UInt8(ascii: "\"") {
                    position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
                }
            }
        }
        return marked + bytes[position...]
    }

    /// Returns the page of such a document.
    package static func page(_ document: JSON) -> [UInt8] {
        var text = String(decoding: document.bytes(), as: UTF8.self)
        for kind in JSONFault.Kind.allCases {
            let isWord = kind == .word
            text = text.replacing(isWord ? "\"\(mark(kind))\"" : mark(kind), with: source(of: kind))
        }
        return Array(text.utf8)
    }

    /// Returns a text with such a fault.
    private static func source(of kind: JSONFault.Kind) -> String {
        switch kind {
        case .unicode: #"\ud800"#
        case .escape: #"\x"#
        case .word: "NaN"
        case .name: #"a":0,"a"#
        }
    }
}
