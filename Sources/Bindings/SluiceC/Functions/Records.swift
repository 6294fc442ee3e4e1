// The names are those of the header, which documents each function.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

public import CSluice
internal import SluiceCore
internal import SluiceSQLite

@c @implementation
public func sluice_insert(
    _ context: sluice_context, _ table: UnsafePointer<CChar>?, _ record: UnsafePointer<CChar>?, _ length: Int,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let record = try Input.json(record, length, "record")
        return try OpenContext.inTable(context, table) { try await $0.insert(record) }
    }
}

@c @implementation
public func sluice_update(
    _ context: sluice_context, _ table: UnsafePointer<CChar>?, _ changes: UnsafePointer<CChar>?, _ length: Int,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let changes = try Input.json(changes, length, "changes")
        return try OpenContext.inTable(context, table) { try await $0.update(changes) }
    }
}

@c @implementation
public func sluice_delete(
    _ context: sluice_context, _ table: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let id = RecordID(try Input.name(id, "id"))
        try OpenContext.inTable(context, table) { try await $0.delete(id: id) }
        return nil
    }
}

@c @implementation
public func sluice_undelete(
    _ context: sluice_context, _ table: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let id = RecordID(try Input.name(id, "id"))
        try OpenContext.inTable(context, table) { try await $0.undelete(id: id) }
        return nil
    }
}

@c @implementation
public func sluice_lookup(
    _ context: sluice_context, _ table: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let id = RecordID(try Input.name(id, "id"))
        let open = try OpenContext.find(context, .local)
        let name = try Input.name(table, "table")
        return try open.here {
            let table = try open.sync.table(name)
            guard let record = try open.store.readHere({ try $0.record(id, in: table.name) }) else {
                throw SluiceError.missing(id, in: table.name)
            }
            return record
        }
    }
}

@c @implementation
public func sluice_query(
    _ context: sluice_context, _ table: UnsafePointer<CChar>?, _ query: UnsafePointer<CChar>?, _ length: Int,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let open = try OpenContext.find(context, .local)
        let query = try QueryDocument.reading(query, length, try Input.name(table, "table"))
        return try open.here {
            // The table's name is checked as with every other call.
            _ = try open.sync.table(query.table)
            // One state of the store for both, so that they are consistent.
            return try open.store.readHere { reader in
                try QueryDocument.items(of: query, records: reader.records, count: reader.count)
            }
        }
    }
}

@c @implementation
public func sluice_sql(
    _ context: sluice_context, _ statement: UnsafePointer<CChar>?, _ length: Int, _ bindings: UnsafePointer<CChar>?,
    _ bindingsLength: Int, _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let open = try OpenContext.find(context, .local)
        let statement = try Input.text(statement, length, "statement")
        let values = try Input.optionalJSON(bindings, bindingsLength, "bindings") ?? .array
        guard values.kind == .array || values.kind == .object else {
            throw SluiceError(.invalidArgument, "bindings are an array or an object")
        }
        let rows = try open.call { open in
            guard let members = values.members else {
                return try await open.store.sql(statement, values.elements ?? [])
            }
            let named = Dictionary(members.map { ($0.name.text, $0.value) }, uniquingKeysWith: { $1 })
            return try await open.store.sql(statement, named)
        }
        return ["columns": JSON(rows.columns.map { JSON($0) }), "rows": JSON(rows.rows.map { JSON($0) })]
    }
}

extension SluiceError {
    /// Returns the error for a missing record.
    static func missing(_ id: RecordID, in table: String) -> SluiceError {
        SluiceError(.recordMissing, "there is no such record", table: table, recordID: id)
    }
}
