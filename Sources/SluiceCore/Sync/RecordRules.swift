/// What an id may be, and which properties are the server's alone.
package enum RecordRules {
    /// Checks a record's id by the rule of all clients of the family: 1 to 255 characters, not blank, no control
    /// character, none of `" + ? \ / \``, and not `.` or `..`.
    package static func validate(id: String, table: String) throws(SluiceError) {
        guard isValid(id: id) else {
            throw SluiceError(
                .invalidRecord,
                "an id is 1 to 255 characters, not blank, without control characters and without any of \" + ? \\ / `",
                table: table, recordID: id)
        }
    }

    /// Whether the text keeps to the rule of ids.
    package static func isValid(id: String) -> Bool {
        let forbidden: Set<Unicode.Scalar> = ["\"", "+", "?", "\\", "/", "`"]
        let isControl = { (scalar: Unicode.Scalar) in scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) }
        let scalars = id.unicodeScalars
        return !scalars.allSatisfy { $0.properties.isWhitespace } && scalars.count <= 255 && id != "." && id != ".."
            && !scalars.contains { isControl($0) || forbidden.contains($0) }
    }

    /// How deep a record may nest that is to be changed here. An operation keeps a record up to four levels deeper than
    /// it is: in an object, in a list of what was sent, in the operation's own record.
    package static let maximumDepth = JSON.maximumDepth - 4

    /// - Throws: ``SluiceError`` of code `invalidRecord` for a record that no operation could keep.
    package static func validate(depthOf record: JSON, id: String, table: String) throws(SluiceError) {
        guard StoreRules.isShallow(record, maximumDepth) else {
            throw SluiceError(
                .invalidRecord,
                "the record nests deeper than \(maximumDepth) levels, and so cannot be changed here; "
                    + "keep deep values as text",
                table: table, recordID: id)
        }
    }

    /// The id of a record that is to be made: its own, or a new one.
    package static func id(ofNew record: JSON, table: String, _ environment: SyncEnvironment) throws(SluiceError)
        -> String
    {
        guard record.kind == .object else {
            throw SluiceError(.invalidRecord, "a record is a JSON object", table: table)
        }
        guard let given = record["id"], !given.isNull else { return environment.makeID() }
        guard let id = given.string else {
            throw SluiceError(.invalidRecord, "a record's id is a string", table: table)
        }
        return id
    }

    /// The id of a record that is to be changed.
    package static func id(ofChanges changes: JSON, table: String) throws(SluiceError) -> String {
        guard changes.kind == .object, let id = changes["id"]?.string else {
            throw SluiceError(.invalidRecord, "an update needs an object with the record's id", table: table)
        }
        return id
    }

    /// The record with its id, and with what only the server sets as `server` has it.
    package static func record(
        _ record: JSON, withSystemColumns system: Set<String>, of server: JSON?, id: String
    ) -> JSON {
        var record = withoutSystemColumns(record, system)
        record["id"] = JSON(id)
        for name in server?.names ?? [] where system.contains(name) { record[name] = server?[name] }
        return record
    }

    /// The record without the properties that the server sets (the id stays).
    package static func withoutSystemColumns(_ record: JSON, _ system: Set<String>) -> JSON {
        var record = record
        for name in record.names where system.contains(name) { record[name] = nil }
        return record
    }
}
