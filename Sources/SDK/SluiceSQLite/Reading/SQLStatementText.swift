internal import SluiceCore

/// Checks of an SQL text before SQLite reads it.
enum SQLStatementText {
    /// Checks that the text begins like a reading statement.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for another first keyword, an empty text and a NUL.
    static func checkReads(_ text: String) throws(SluiceError) {
        let bytes = Array(text.utf8)
        guard !bytes.contains(0) else { throw SluiceError(.invalidQuery, "the statement has a NUL in it") }
        let rest = bytes[afterBlank(bytes[...])...]
        let word = rest.prefix { isLetter($0) }
        let name = String(decoding: word, as: UTF8.self).uppercased()
        if ["SELECT", "WITH", "VALUES"].contains(name) { return }
        guard !rest.isEmpty else { throw SluiceError(.invalidQuery, "the statement is empty") }
        let found = name.isEmpty ? String(String(decoding: rest, as: UTF8.self).prefix(1)) : name
        throw SluiceError(
            .invalidQuery, "SQL only reads here: a statement begins with SELECT, WITH or VALUES, not with \(found)")
    }

    /// Whether nothing follows but spaces, comments and semicolons.
    static func isBlank(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text[afterBlank(text)...]
        while rest.first == UInt8(ascii: ";") {
            rest = rest.dropFirst()
            rest = rest[afterBlank(rest)...]
        }
        return rest.isEmpty
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
    }

    /// Returns the index of the first character that is neither a space nor part of a comment.
    private static func afterBlank(_ text: ArraySlice<UInt8>) -> Int {
        var rest = text
        while let first = rest.first {
            if [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(first) {
                rest = rest.dropFirst()
            } else if rest.starts(with: "--".utf8) {
                rest = rest.drop { $0 != 0x0A }
            } else if rest.starts(with: "/*".utf8) {
                rest = afterComment(rest.dropFirst(2))
            } else {
                break
            }
        }
        return rest.startIndex
    }

    /// Returns the text after the end of a comment. An unclosed comment reaches to the end of the text.
    private static func afterComment(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = text
        while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest = rest.dropFirst() }
        return rest.dropFirst(2)
    }
}
