internal import SluiceBase

/// The places where the engine's own tables keep copies of an application's records. Migrations and redactions share
/// this list, to change the copies' shape or leave something out.
enum RecordCopies {
    /// The side that wrote a copy.
    enum Origin {
        /// The application: a record as it is or was here, or a sent body.
        case application
        /// The server.
        case server
    }

    private static let origins: [(name: String, origin: Origin)] = [
        ("base", .server), ("mirror", .server), ("server", .server), ("frozen", .application),
        ("overruled", .application), ("local", .application), ("request", .application), ("final", .application),
    ]

    /// The engine's tables whose rows keep copies or are about a record, except for the cursors.
    private static let schemas = [
        TableOperation.schema, UnansweredSend.schema, RecordState.schema, ChangeStamps.schema, QuarantinedRow.schema,
        SyncTables.audit,
    ]

    /// Calls `body` for the engine's rows about a table's records, each with its own table.
    static func forEachRow(
        about table: String, in store: any StoreReader, _ body: (JSON, TableSchema) throws -> Void
    ) throws {
        for schema in schemas {
            try store.forEachRecord(in: schema.name) { row in
                guard let about = self.table(of: row), about.hasSameBytes(as: table) else { return }
                try body(row, schema)
            }
        }
    }

    /// Returns the table of a row's record; nil where the row is about none.
    static func table(of row: JSON) -> String? { row["table"]?.string ?? row["operation"]?["table"]?.string }

    private static func isEmptied(_ before: JSON?, _ after: JSON?) -> Bool {
        func saysSomething(_ body: JSON?) -> Bool { body?.names.contains { $0 != "id" } ?? false }
        return saysSomething(before) && !saysSomething(after)
    }

    /// Returns the row with each copy in it changed: whole records, and sent parts of records. A request as it went
    /// over the wire is no record and cannot be changed, so it is removed.
    static func map(_ row: JSON, _ change: (JSON, Origin) throws -> JSON) rethrows -> JSON {
        var row = row
        row["wireRequest"] = nil
        for (name, origin) in origins {
            if let copy = row[name], copy.kind == .object { row[name] = try change(copy, origin) }
        }
        // Sent bodies of revisions, and bodies of unanswered sends. An emptied one is dropped, because any record
        // would prove it.
        if let sent = row["sent"]?.elements {
            row["sent"] = JSON(
                try sent.compactMap { body in
                    let changed = try map(body, change)
                    return isEmptied(body["final"], changed["final"]) ? nil : changed
                })
        }
        if let bodies = row["bodies"]?.elements {
            row["bodies"] = JSON(
                try bodies.compactMap { body in
                    guard body.kind == .object else { return body }
                    let changed = try change(body, .application)
                    return isEmptied(body, changed) ? nil : changed
                })
        }
        for name in ["operation", "failure"] {
            if let nested = row[name], nested.kind == .object { row[name] = try map(nested, change) }
        }
        return row
    }
}
