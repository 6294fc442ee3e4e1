/// Texts that are not valid Unicode, in a service's answer that is read as a document and then passed on as a page. The
/// document has a mark in their place; the page has half of a surrogate pair, so that it sets their rows aside.
package enum BrokenTexts {
    /// A mark between two characters of private use, which no text should hold.
    private static let mark = "\u{10FFFD}broken text\u{10FFFD}"
    private static let half = #"\ud800"#

    /// Returns the document with the mark in the place of each such text and name; nil where there is none, or where it
    /// is not JSON for another reason.
    package static func marked(_ bytes: [UInt8]) -> [UInt8]? {
        var found: [UInt32]? = []
        let tape = bytes.withUnsafeBufferPointer { try? JSONTape($0, brokenTexts: &found) }
        guard tape != nil, let starts = found, !starts.isEmpty else { return nil }
        var marked: [UInt8] = []
        marked.reserveCapacity(bytes.count)
        var position = 0
        for start in starts {
            marked += bytes[position..<Int(start)]
            marked += mark.utf8
            position = Int(start)
            while bytes[position] != UInt8(ascii: "\"") { position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1 }
        }
        return marked + bytes[position...]
    }

    /// Returns the page of such a document.
    package static func page(_ document: JSON) -> [UInt8] {
        Array(String(decoding: document.bytes(), as: UTF8.self).replacing(mark, with: half).utf8)
    }
}
