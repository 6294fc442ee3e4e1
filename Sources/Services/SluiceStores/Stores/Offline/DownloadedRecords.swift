internal import SluiceBase
internal import SluiceSync
internal import Synchronization

/// The records stored by a download, for the condition `Sluice.newSinceLastDownload()`.
///
/// A service that is followed by time of change returns the records of its last seconds again; those count as newly
/// stored.
final class DownloadedRecords: Sendable {
    /// The largest number of ids kept for a table; beyond it only this fact is kept.
    private static let limit = 10_000
    /// One record for each table.
    static let schema = TableSchema("sluice_downloaded", columns: [.init("ids", .json)])

    /// The records of a table that a download has stored.
    struct Table: Sendable, Hashable {
        var ids: Set<RecordID> = []
        /// Whether there were too many to list: then the whole table counts.
        var isWhole = false
    }

    private let tables = Mutex<[String: Table]>([:])

    /// Notes the pulled changes of a transaction.
    func note(_ batch: ChangeBatch) {
        tables.withLock { tables in
            for change in batch.changes where change.source == .pull && change.kind != .removed {
                tables[change.table, default: Table()].ids.insert(change.recordID)
            }
            if case .tables(let names) = batch.reloads {
                for name in names { tables[name, default: Table()].isWhole = true }
            }
            for (name, table) in tables where table.isWhole || table.ids.count > Self.limit {
                tables[name] = Table(isWhole: true)
            }
        }
    }

    /// Saves the noted records, replacing those of the previous download.
    func save(to store: any LocalStore) async throws {
        let tables = tables.withLock { $0 }
        try await store.write { store in
            _ = try store.delete(matching: TableQuery(Self.schema.name))
            for (name, table) in tables {
                let ids = JSON(table.ids.sorted().map { JSON($0) })
                try store.put(["id": JSON(name), "ids": table.isWhole ? .null : ids], in: Self.schema.name)
            }
        }
    }

    /// Returns the records of a table that the last download has stored.
    static func table(_ name: String, in store: any StoreReader) throws -> Table {
        guard let record = try store.record(RecordID(name), in: schema.name) else { return Table() }
        guard let ids = record["ids"]?.elements else { return Table(isWhole: true) }
        return Table(ids: Set(ids.compactMap(\.textID)))
    }
}
