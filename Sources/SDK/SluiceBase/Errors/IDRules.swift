/// The rules for ids.
package enum IDRules {
    /// Checks a record's id.
    ///
    /// A new id follows the rule of all clients of this family: 1 to 255 characters, not blank, no control character,
    /// none of `" + ? \ / \``. Servers may have records with other ids, and pulled records can be changed, because the
    /// id is percent-encoded. The exceptions are `.` and `..`, which no path can name.
    package static func validate(id: RecordID, table: String, isNew: Bool = false) throws(SluiceError) {
        func refusal(_ reason: String) -> SluiceError {
            SluiceError(.invalidRecord, reason, table: table, recordID: id)
        }
        if case .integer = id { throw refusal("the ids of a synced table are texts") }
        if id == "." || id == ".." {
            throw refusal("no request can name a record whose id is \(id): in a path it is a way to another one")
        }
        if id.text.isEmpty || id.text.utf8.contains(0) { throw refusal("an id has a character at least, and no NUL") }
        guard !isNew || isValid(id: id.text) else {
            throw refusal(
                "a new id is 1 to 255 characters, not blank, without control characters and without any of "
                    + "\" + ? \\ / `")
        }
    }

    /// Whether the text follows the rule of new ids.
    package static func isValid(id: String) -> Bool {
        // Most ids consist of ASCII letters and digits with hyphens.
        let isPlain = id.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == 0x2D }
        if isPlain { return (1...255).contains(id.utf8.count) }
        let forbidden: Set<Unicode.Scalar> = ["\"", "+", "?", "\\", "/", "`"]
        let isControl = { (scalar: Unicode.Scalar) in scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) }
        let scalars = id.unicodeScalars
        return !scalars.allSatisfy { $0.properties.isWhitespace } && scalars.count <= 255 && id != "." && id != ".."
            && !scalars.contains { isControl($0) || forbidden.contains($0) }
    }
}
