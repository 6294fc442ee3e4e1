public import SluiceBase
public import SluiceWire
internal import Synchronization

extension SyncContext {
    /// Returns the table of that name, whose records are JSON objects.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a name that no table can have.
    public func table(_ name: String) throws -> SyncTable<JSON> { try table(name, of: JSON.self) }

    /// Returns the table of that name, whose records are values of `type`.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a name that no table can have.
    public func table<Record: Codable & Sendable>(_ name: String, of type: Record.Type) throws -> SyncTable<Record> {
        try SyncTables.validate(name)
        return SyncTable(name, self)
    }

    /// Returns the table of the type's records.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a name that no table can have.
    public func table<Record: SyncRecord>(_ type: Record.Type) throws -> SyncTable<Record> {
        try table(type.tableName, of: type)
    }
}

extension SyncTables {
    /// The schemas of all tables that the engine keeps in a store, except the values of plugins.
    package static let all = [
        TableOperation.schema, UnansweredSend.schema, RecordState.schema, Cursor.schema, Membership.schema,
        ChangeStamps.schema, QuarantinedRow.schema, LeaseRecord.schema, ScheduleState.schema,
        PageSize.schema, MigrationNote.schema, LocalOnly.schema, audit,
    ]
}

extension SyncContext {
    /// The tables and columns that stay on this machine, by the options and by the store's record of earlier options.
    package var localOnly: LocalOnly { staying.withLock { $0 } }

    /// The store without the columns that stay on this machine.
    var shared: any LocalStore {
        let columns = localOnly.columns
        return columns.isEmpty ? store : SharedStore(store: store, columns: columns)
    }

    /// Throws for a table that stays on this machine, because the server knows nothing of it.
    func checkShared(_ table: String) throws(SluiceError) {
        guard !localOnly.tables.contains(table) else {
            throw SluiceError(.invalidQuery, "the table stays on this machine", table: table)
        }
    }

    /// Throws if changes of a table wait for the server; such a table cannot become local-only.
    private static func checkSettled(_ table: String, _ writer: any StoreWriter) throws {
        guard try QueueReader(writer).all(in: table).isEmpty else {
            throw SluiceError(
                .operationsPending,
                "changes wait that were made while the table was shared; push or discard them first",
                table: table)
        }
        let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
        for schema in [RecordState.schema, UnansweredSend.schema] {
            _ = try writer.delete(matching: TableQuery(schema.name, filter: ofTable))
        }
    }

    /// Throws if a change waits that has a value in one of the columns, which would not be sent any more.
    private static func checkUnsent(_ names: Set<PropertyName>, of table: String, _ writer: any StoreWriter) throws {
        if names.isEmpty { return }
        let queue = QueueReader(writer)
        for operation in try queue.all(in: table) where operation.kind != .delete {
            let state = try queue.state(of: operation.recordID, in: table)
            let local = try writer.record(operation.recordID, in: table)
            let record = operation.frozen ?? local
            guard names.contains(where: { (record?[$0] ?? .null) != (state?.base?[$0] ?? .null) }) else { continue }
            throw SluiceError(
                .operationsPending,
                "changes of columns wait that were made while these were shared; push or discard them first",
                table: table, recordID: operation.recordID, operationID: operation.id)
        }
    }

    /// Adds the tables and columns that other programs have made local-only since.
    func refreshLocalOnly() async throws {
        let known = try await store.read { try LocalOnly($0) }
        staying.withLock { $0 = $0.union(known) }
    }

    /// Stores the local-only tables and columns of the options, and adds the ones stored before.
    func settleLocalOnly() async throws {
        let wanted = options.localOnly
        try wanted.validate(dialect.pushColumns)
        var known = try await store.read { try LocalOnly($0) }
        if known.union(wanted) != known {
            known = try await store.write { writer in
                let held = try LocalOnly(writer)
                let all = held.union(wanted)
                for table in all.tables.subtracting(held.tables) { try Self.checkSettled(table, writer) }
                for (table, names) in all.columns {
                    try Self.checkUnsent(names.subtracting(held.columns(of: table)), of: table, writer)
                }
                try all.write(to: writer)
                // Columns that were shared so far are removed from all copies.
                let shared = SharedWriter(writer: writer, columns: all.columns)
                for (table, names) in all.columns where names != held.columns(of: table) {
                    try RecordCopies.forEachRow(about: table, in: writer) { try shared.put($0, in: $1.name) }
                }
                return all
            }
        }
        staying.withLock { $0 = known }
    }
}
