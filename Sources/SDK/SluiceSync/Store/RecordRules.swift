package import SluiceBase

/// The rules for locally changed records, and for the system columns, set by the server only. For ids see `IDRules`.
package enum RecordRules {
    /// The largest nesting depth of a locally changed record. An operation nests the record up to four levels deeper:
    /// in an object, in the list of sent bodies, in the operation's own record.
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

    /// Checks the replacement of a record, in an edit or a merge.
    ///
    /// - Parameter formers: the record here and on the server: names that differ in case alone may stay if one of these
    ///   records has both.
    /// - Throws: ``SluiceError`` of code `invalidRecord` for a value that is no object, has another id, has two names
    ///   that differ in case alone, or nests too deep for an operation.
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

    /// The names with two underscores that a record may have from a server.
    private static let ofServers: Set<PropertyName> = ["__version", "__updatedAt", "__createdAt", "__deleted"]

    /// Refuses names that servers keep for themselves, and two names that differ in the case of ASCII letters only: the
    /// databases of many servers take them for one column, and one of the values would be lost.
    ///
    /// - Parameters:
    ///   - formers: the record before the change; a pair of names in one of them may stay.
    ///   - namesKeys: whether `ID` may be a key property beside the id.
    /// - Throws: ``SluiceError`` of code `invalidRecord` that names both.
    static func validate(
        namesOf record: JSON, besides formers: [JSON?], namesKeys: Bool = false, id: RecordID, table: String
    ) throws(SluiceError) {
        if let name = record.names.first(where: { name in
            name.text.hasPrefix("__") && !ofServers.contains(name) && !formers.contains { $0?[name] != nil }
        }) {
            throw SluiceError(
                .invalidRecord,
                "servers keep names that begin with two underscores for themselves, so \(name) would be lost",
                table: table, recordID: id)
        }
        let names = namesKeys ? record.names.filter { $0 != "id" } : record.names
        // Without capitals no two names can differ in case alone.
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

    /// Returns the record with the server's spelling of each property name. A server that returns a name in other case
    /// treats both as one, and might keep either value if both were sent. System columns are left to the server.
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

    /// Returns the id of a new record: its own, or a generated one.
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

    /// Returns the id of the record to change.
    package static func id(ofChanges changes: JSON, table: String) throws(SluiceError) -> RecordID {
        guard changes.kind == .object, let id = changes["id"]?.textID else {
            throw SluiceError(.invalidRecord, "an update needs an object with the record's id", table: table)
        }
        return id
    }

    /// Returns the record with its id, and with the system columns of `server`.
    package static func record(
        _ record: JSON, withSystemColumns system: Set<PropertyName>, of server: JSON?, id: RecordID
    ) -> JSON {
        var record = withoutSystemColumns(record, system)
        record["id"] = JSON(id)
        for name in server?.names ?? [] where system.contains(name) { record[name] = server?[name] }
        return record
    }

    /// Returns the record given for an operation that later ones follow, without their values: they stay changes of their
    /// own, although the record as the application sees it has them.
    ///
    /// - Parameters:
    ///   - made: the record after the operation.
    ///   - seen: the record after the later ones.
    ///   - instead: the value of a property that only they have changed.
    static func own(_ given: JSON, made: JSON?, seen: JSON?, instead: (PropertyName) -> JSON?) -> JSON {
        guard let made, let seen else { return given }
        var own = given
        for name in Set(seen.names).union(made.names).sorted() {
            let value = seen[name] ?? .null
            if value != made[name] ?? .null, value == given[name] ?? .null { own[name] = instead(name) }
        }
        return own
    }

    /// Returns the record without system columns (the id stays).
    package static func withoutSystemColumns(_ record: JSON, _ system: Set<PropertyName>) -> JSON {
        var record = record
        for name in record.names where system.contains(name) { record[name] = nil }
        return record
    }
}
