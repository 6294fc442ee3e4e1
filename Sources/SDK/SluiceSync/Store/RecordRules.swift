package import SluiceBase

/// What a record may hold that is to be changed here, and which properties only the server sets. Of ids: `IDRules`.
package enum RecordRules {
    /// How deep a record may nest that is to be changed here. An operation keeps a record up to four levels deeper than
    /// it is: in an object, in a list of what was sent, in the operation's own record.
    package static let maximumDepth = JSON.maximumDepth - 4

    /// - Throws: ``SluiceError`` of code `invalidRecord` for a record that no operation could keep.
    package static func validate(depthOf record: JSON, id: RecordID, table: String) throws(SluiceError) {
        guard StoreRules.isShallow(record, maximumDepth) else {
            throw SluiceError(
                .invalidRecord,
                "the record nests deeper than \(maximumDepth) levels, and so cannot be changed here; "
                    + "keep deep values as text",
                table: table, recordID: id)
        }
    }

    /// Checks what is to take a record's place, in an edit or a merge.
    ///
    /// - Parameter formers: the record as it is here and on the server: names that differ in case alone may stay where
    ///   one of them has both.
    /// - Throws: ``SluiceError`` of code `invalidRecord` for what is no object, has another id, two names that differ in
    ///   case alone, or no operation could keep.
    package static func validate(
        whole record: JSON, besides formers: [JSON?], id: RecordID, table: String
    ) throws(SluiceError) {
        guard record.kind == .object, record["id"].map({ $0.textID?.isSame(as: id) ?? false }) ?? true else {
            throw SluiceError(
                .invalidRecord, "what takes a record's place is a whole record, and its id cannot be another",
                table: table, recordID: id)
        }
        if let name = record.names.first(where: { name in
            StoreRules.folded(name.text) == Array("id".utf8) && name != "id" && !formers.contains { $0?[name] != nil }
        }) {
            throw SluiceError(
                .invalidRecord,
                "the property \(name) differs from id in the case of letters only, and a server may take it for that",
                table: table, recordID: id)
        }
        try validate(namesOf: record, besides: formers, id: id, table: table)
        try validate(depthOf: record, id: id, table: table)
    }

    /// Refuses a change that gives a record two properties whose names differ in the case of ASCII letters only: the
    /// databases of many servers take them for one column, and one of the values would be lost.
    ///
    /// - Parameters:
    ///   - formers: the record before the change; what one of them has already may stay.
    ///   - namesKeys: whether `ID` is the name of a key's property, and none for the id.
    /// - Throws: ``SluiceError`` of code `invalidRecord` that names both.
    static func validate(
        namesOf record: JSON, besides formers: [JSON?], namesKeys: Bool = false, id: RecordID, table: String
    ) throws(SluiceError) {
        let names = namesKeys ? record.names.filter { $0 != "id" } : record.names
        // Without capitals, names that differ differ in more than case.
        guard names.contains(where: { $0.text.utf8.contains { (0x41...0x5A).contains($0) } }) else { return }
        var known: [[UInt8]: PropertyName] = [:]
        for name in names {
            guard let other = known.updateValue(name, forKey: StoreRules.folded(name.text)),
                !formers.contains(where: { $0?[name] != nil && $0?[other] != nil })
            else { continue }
            throw SluiceError(
                .invalidRecord,
                "the properties \(other) and \(name) differ in the case of letters only, and a server may take them for "
                    + "one: use one of the names", table: table, recordID: id)
        }
    }

    /// The record with each property that the server has under a name in other letters' case under that name. A server
    /// that gives a property back so does not tell the two apart, and may keep either value where both are sent.
    /// What only the server sets stays the server's.
    static func spelled(_ record: JSON?, like server: JSON?, system: Set<PropertyName>) -> JSON? {
        guard var spelled = record, let server else { return record }
        let names = Dictionary(server.names.map { (StoreRules.folded($0.text), $0) }) { first, _ in first }
        for (name, value) in record?.members ?? [] where server[name] == nil {
            guard let theirs = names[StoreRules.folded(name.text)] else { continue }
            spelled[name] = nil
            if theirs != "id", !system.contains(theirs) { spelled[theirs] = value }
        }
        return spelled
    }

    /// The id of a record that is to be made: its own, or a new one.
    package static func id(ofNew record: JSON, table: String, _ environment: SyncEnvironment) throws(SluiceError)
        -> RecordID
    {
        guard record.kind == .object else {
            throw SluiceError(.invalidRecord, "a record is a JSON object", table: table)
        }
        guard let given = record["id"], !given.isNull else { return RecordID(environment.makeID()) }
        guard let id = given.textID else {
            throw SluiceError(.invalidRecord, "a record's id is a string", table: table)
        }
        return id
    }

    /// The id of a record that is to be changed.
    package static func id(ofChanges changes: JSON, table: String) throws(SluiceError) -> RecordID {
        guard changes.kind == .object, let id = changes["id"]?.textID else {
            throw SluiceError(.invalidRecord, "an update needs an object with the record's id", table: table)
        }
        return id
    }

    /// The record with its id, and with what only the server sets as `server` has it.
    package static func record(
        _ record: JSON, withSystemColumns system: Set<PropertyName>, of server: JSON?, id: RecordID
    ) -> JSON {
        var record = withoutSystemColumns(record, system)
        record["id"] = JSON(id)
        for name in server?.names ?? [] where system.contains(name) { record[name] = server?[name] }
        return record
    }

    /// The record without the properties that the server sets (the id stays).
    package static func withoutSystemColumns(_ record: JSON, _ system: Set<PropertyName>) -> JSON {
        var record = record
        for name in record.names where system.contains(name) { record[name] = nil }
        return record
    }
}
