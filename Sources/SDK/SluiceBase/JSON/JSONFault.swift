/// A part of a text that JSON does not have, and that leaves the ends of all other values clear.
package struct JSONFault: Sendable {
    package enum Kind: Sendable, CaseIterable {
        /// A text or name that is not valid Unicode.
        case unicode
        /// A text or name with a control character that is not escaped, with an unknown escape, or a name with NUL.
        case escape
        /// A word or number of another language, such as `NaN`. It becomes null.
        case word
        /// A member name for the second time in its object.
        case name
    }

    package let kind: Kind
    /// The position of the word, or after the quote of the text or name.
    package let start: UInt32
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
