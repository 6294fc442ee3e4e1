internal import SluiceBase

/// Carries migrations out, in the caller's transaction.
struct StoreMigrator {
    let store: any StoreWriter
    /// The server's own properties.
    let columns: PushColumns
    let now: Timestamp

    /// Carries out the steps of a migration.
    ///
    /// - Throws: ``SluiceError`` of code `operationsPending` where changes wait for a table to be dropped,
    ///   `recordExists` where a table's new name is taken, of the store, and the errors of a closure.
    func carryOut(_ migration: StoreMigration) throws {
        var steps = migration.steps[...]
        while let step = steps.popFirst() {
            // Deletions may wait in the queue even where the table is missing.
            let held = try store.tables().first { $0.name.hasSameBytes(as: step.table) }
            try carryOut(step, held, &steps)
        }
    }

    private func carryOut(
        _ step: StoreMigration.Step, _ held: TableSchema?, _ steps: inout ArraySlice<StoreMigration.Step>
    ) throws {
        switch step.action {
        case .renameTable(let name): try rename(step.table, held, to: name)
        case .dropTable(let discards): try drop(step.table, discardsChanges: discards)
        case .change(let change):
            // Later changes of the same table are combined, because each pass reads and writes the whole table.
            var changes = [change]
            while let next = steps.first, next.table.hasSameBytes(as: step.table),
                case .change(let more) = next.action
            {
                changes.append(more)
                steps.removeFirst()
            }
            try changeProperties(of: step.table, held, changes)
        }
    }

    // MARK: Properties

    private func changeProperties(of table: String, _ held: TableSchema?, _ changes: [PropertyChange]) throws {
        let waiting = Set(try QueueReader(store).all(in: table).map { $0.recordID })
        let local = try LocalOnly(store)
        var bases: [RecordID: JSON] = [:]
        for id in waiting {
            let state = try store.record(RecordState.id(table, id), in: RecordState.schema.name)
            bases[id] = state?["base"]
        }
        if let held {
            // The columns first, so that each value finds its column when its record is put.
            try store.redeclare(changes.reduce(held) { $1.declaration(of: $0) })
            try store.forEachRecord(in: table) { row in
                let id = row["id"]?.textID ?? ""
                let isOurs = waiting.contains(id) || local.tables.contains(table)
                let changed = try record(row, isOurs ? .application : .server, on: bases[id], changes, local, table)
                if changed != row { try store.put(changed, in: table) }
            }
        }
        let following = local.following(changes, in: table)
        try following.write(to: store)
        // Copies have no local-only columns, under any name.
        let shared = SharedWriter(writer: store, columns: following.columns)
        try RecordCopies.forEachRow(about: table, in: store) { row, schema in
            let id = (row["record"] ?? row["operation"]?["record"])?.textID ?? ""
            let changed = try RecordCopies.map(row) { try record($0, $1, on: bases[id], changes, local, table) }
            if changed != row { try shared.put(changed, in: schema.name) }
        }
    }

    /// Returns the copy after the changes. The id and the server's properties stay unchanged.
    private func record(
        _ copy: JSON, _ origin: RecordCopies.Origin, on base: JSON?, _ changes: [PropertyChange], _ local: LocalOnly,
        _ table: String
    ) throws -> JSON {
        var (changed, base) = (copy, base)
        var staying = local
        for change in changes {
            // A local-only value is the application's, whichever side wrote the record last.
            let isOurs = change.names.contains { staying.columns(of: table).contains($0) }
            changed = try change.record(changed, isOurs ? .application : origin, on: isOurs ? nil : base)
            base = try base.map { try change.record($0, .server) }
            staying = staying.following([change], in: table)
        }
        guard changed.kind == .object else {
            throw SluiceError(.invalidRecord, "a migration returned a value that is no record")
        }
        for name in columns.system.union([columns.id, "id"]).sorted() { changed[name] = copy[name] }
        return changed
    }

    // MARK: Tables

    private func rename(_ table: String, _ held: TableSchema?, to name: String) throws {
        let queue = QueueReader(store)
        if table.hasSameBytes(as: name) { return }
        guard try held != nil || !queue.all(in: table).isEmpty else { return }
        guard try store.count(matching: TableQuery(name)) == 0, try queue.all(in: name).isEmpty else {
            throw SluiceError(.recordExists, "the table \(name) has records already", table: table)
        }
        if let held {
            try store.redeclare(TableSchema(name, columns: held.columns, indexes: held.indexes))
            try store.forEachRecord(in: table) { try store.put($0, in: name) }
            try store.drop(table)
        }
        try RecordCopies.forEachRow(about: table, in: store) { row, schema in
            let id = row["id"]?.textID ?? ""
            let renamed = Self.renamed(row, table, to: name, schema)
            if renamed["id"]?.textID != id { try store.delete([id], from: schema.name) }
            try store.put(renamed, in: schema.name)
        }
        for var cursor in try Cursor.all(of: table, in: store) {
            try store.delete([cursor.owner.id], from: Cursor.schema.name)
            cursor.owner.table = name
            cursor.restart()
            try store.put(cursor.record, in: Cursor.schema.name)
        }
        try LocalOnly(store).renaming(table, to: name).write(to: store)
    }

    /// Returns the engine's row about a renamed table. The name is part of some rows' ids.
    private static func renamed(_ row: JSON, _ table: String, to name: String, _ schema: TableSchema) -> JSON {
        var row = RecordCopies.map(row) { copy, _ in copy }
        if row["table"] != nil { row["table"] = JSON(name) }
        if var operation = row["operation"], operation.kind == .object {
            operation["table"] = JSON(name)
            row["operation"] = operation
        }
        let isNamed = schema.name != TableOperation.schema.name && schema.name != SyncTables.audit.name
        if isNamed, let id = row["id"]?.string {
            row["id"] = JSON(name + String(decoding: id.utf8.dropFirst(table.utf8.count), as: UTF8.self))
        }
        return row
    }

    private func drop(_ table: String, discardsChanges: Bool) throws {
        let queue = QueueWriter(store)
        let operations = try queue.reader.all(in: table)
        // A group reaches the server as a whole or not at all.
        let groups = Set(operations.compactMap(\.group))
        let isTorn = try groups.contains { group in
            try queue.reader.members(of: group).contains { !$0.table.hasSameBytes(as: table) }
        }
        guard operations.isEmpty || (discardsChanges && !isTorn) else {
            throw SluiceError(
                .operationsPending,
                "the queue has \(operations.count.counted("change")) of a table that a migration removes; push first, or have "
                    + "the migration discard what is queued", table: table)
        }
        for operation in operations {
            let local = try store.record(operation.recordID, in: table)
            try queue.audit(operation, "migration", local: local, at: now)
            try queue.remove(operation)
        }
        for cursor in try Cursor.all(of: table, in: store) {
            try Membership(of: cursor, in: store).forgetAll()
            try store.delete([cursor.owner.id], from: Cursor.schema.name)
        }
        let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
        for schema in [RecordState.schema, UnansweredSend.schema, QuarantinedRow.schema, ChangeStamps.schema] {
            _ = try store.delete(matching: TableQuery(schema.name, filter: ofTable))
        }
        try store.drop(table)
        try LocalOnly(store).forgetting(table).write(to: store)
    }
}
