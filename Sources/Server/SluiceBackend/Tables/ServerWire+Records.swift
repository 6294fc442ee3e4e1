internal import HTTPTypes
internal import SluiceCore
internal import SluiceSQLite

/// The form of records on a wire.
extension ServerWire {
    /// Returns a stored record in the wire's form: with its names of system columns, times cut to its digits, and only
    /// the system columns in `asked`.
    func record(_ stored: JSON, asked: Set<PropertyName>) -> JSON {
        var record = stored
        if let number = record[SystemColumn.number] {
            record[SystemColumn.number] = nil
            if showsIntegerIDs { record["id"] = number }
        }
        record[SystemColumn.left] = nil
        for column in SystemColumn.all {
            guard let value = record[column] else { continue }
            record[column] = nil
            guard let name = names.wire(column), asked.contains(column) else { continue }
            let time = SystemColumn.times.contains(column) ? value.string.flatMap { Timestamp($0) } : nil
            record[name] = time.map { JSON($0.text(fractionDigits: timeDigits)) } ?? value
        }
        return record
    }

    /// Returns the members of a list's records in the form and order of ``record(_:asked:)``; nil if a conversion by
    /// column is not enough.
    func members(of table: BackendTable, _ query: TableQuery, asked: Set<PropertyName>) -> [RecordText.Member]? {
        guard query.select.isEmpty, !(showsIntegerIDs && table.rules.ids == .integer) else {
            return nil
        }
        let own = table.ownColumns.map { RecordText.Member.column($0, as: $0) }
        let system = SystemColumn.all.compactMap { column -> RecordText.Member? in
            guard asked.contains(column), let name = names.wire(column) else { return nil }
            return SystemColumn.times.contains(column) ? .milliseconds(column, as: name) : .column(column, as: name)
        }
        return own + [.others] + system
    }

    /// Returns the answer with one record, its version as `ETag` and its time as `Last-Modified`.
    func reply(_ status: HTTPResponse.Status, _ stored: JSON, asked: Set<PropertyName>) -> Reply {
        var reply = Reply(status, body: record(stored, asked: asked))
        reply.tag(stored)
        return reply
    }

    /// Returns the stored system columns that a request asks for.
    func asked(by target: RequestTarget) -> Set<PropertyName> {
        guard givesSystemColumnsOnRequest else { return Set(SystemColumn.all) }
        let words = target.values("__systemproperties").flatMap { $0.split(separator: ",") }.map {
            $0.drop { $0 == "_" || $0 == " " }.lowercased()
        }
        if words.contains("*") { return Set(SystemColumn.all) }
        return Set(SystemColumn.all.filter { words.contains($0.text.lowercased()) })
    }

    /// Returns the stored columns for a selection, with the requested system columns.
    func selection(_ columns: [PropertyName], asked: Set<PropertyName>) -> [PropertyName] {
        guard !columns.isEmpty, givesSystemColumnsOnRequest else { return columns }
        return columns + asked.subtracting(columns).sorted()
    }

    /// Returns the entry for a record that is gone from a client's list.
    func removed(_ stored: JSON) -> JSON {
        let isDeleted = stored[SystemColumn.deleted]?.bool == true
        var tombstone: JSON = ["id": stored["id"] ?? .null]
        for name in [SystemColumn.number, SystemColumn.version] { tombstone[name] = stored[name] }
        tombstone[SystemColumn.deleted] = true
        var shown = record(tombstone, asked: [SystemColumn.version, SystemColumn.deleted])
        // OData JSON Format 4.01, section 15.3.
        shown["@removed"] = ["reason": isDeleted ? "deleted" : "changed"]
        return shown
    }

    /// Returns a body's properties, without the id and without permitted system columns.
    ///
    /// - Throws: ``Refusal`` (400) for a system column, unless the wire ignores them.
    func properties(of body: JSON, verb: String) throws -> [(name: PropertyName, value: JSON)] {
        try (body.members ?? []).filter { name, _ in
            if name == "id" { return false }
            if reserved == .ignored, names.stored(name) != nil { return false }
            if comparesVersionInBody, name == SystemColumn.version { return false }
            guard !names.isReserved(name) else {
                throw Refusal(.badRequest, "Cannot \(verb) item with property '\(name)' as it is reserved")
            }
            return true
        }.map { ($0, $1) }
    }
}
