internal import SluiceBase
internal import Synchronization

extension SyncContext {
    /// The tables and columns that stay on this machine: by the options, and by what the store remembers.
    package var localOnly: LocalOnly { staying.withLock { $0 } }

    /// The store as the server may know it.
    var shared: any LocalStore {
        let columns = localOnly.columns
        return columns.isEmpty ? store : SharedStore(store: store, columns: columns)
    }

    /// Refuses a table that stays here, of which the server knows nothing.
    func checkShared(_ table: String) throws(SluiceError) {
        guard !localOnly.tables.contains(table) else {
            throw SluiceError(.invalidQuery, "the table stays on this machine", table: table)
        }
    }

    /// Refuses to keep a table here of which something is on its way to the server.
    private static func checkSettled(_ table: String, _ writer: any StoreWriter) throws {
        guard try QueueReader(writer).all(in: table).isEmpty else {
            throw SluiceError(
                .operationsPending,
                "changes wait that were made while the table was shared; push or discard them first",
                table: table)
        }
        let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
        for schema in [RecordState.schema, UnansweredSend.schema] {
            _ = try writer.delete(matching: Query(schema.name, filter: ofTable))
        }
    }

    /// Takes in what other programs have declared since to stay here.
    func refreshLocalOnly() async throws {
        let known = try await store.read { try LocalOnly($0) }
        staying.withLock { $0 = $0.union(known) }
    }

    /// Stores what the options declare, and takes in what was stored before.
    func settleLocalOnly() async throws {
        let wanted = options.localOnly
        try wanted.validate(dialect.pushColumns)
        var known = try await store.read { try LocalOnly($0) }
        if known.union(wanted) != known {
            known = try await store.write { writer in
                let held = try LocalOnly(writer)
                let all = held.union(wanted)
                for table in all.tables.subtracting(held.tables) { try Self.checkSettled(table, writer) }
                try all.write(to: writer)
                // What was shared so far stays in no copy.
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
