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

/// The link values along which defining requests have brought linked records: an expansion is complete locally for
/// these values only.
///
/// A record may match a request later: after an edit, as a new local record, or brought by another request. Then its
/// linked records were never requested.
enum DownloadedLinks {
    /// One record for each request, path and value.
    static let schema = TableSchema("sluice_links", columns: [.init("request", .string)], indexes: [["request"]])

    static func id(_ request: String, _ path: String, _ value: LinkValue) -> RecordID {
        .string("\(request)\u{1}\(path)\u{1}\(value.text)")
    }

    /// Saves the values of a download, replacing those of the previous one.
    static func save(_ values: [String: Set<LinkValue>], of request: String, in store: any StoreWriter) throws {
        try forget(request, in: store)
        for (path, values) in values {
            for value in values {
                try store.put(
                    ["id": JSON(id(request, path, value)), "request": JSON(request)], in: schema.name)
            }
        }
    }

    static func forget(_ request: String, in store: any StoreWriter) throws {
        let ofRequest = QueryExpression.binary(.eq, .column("request"), .literal(.string(request)))
        _ = try store.delete(matching: TableQuery(schema.name, filter: ofRequest))
    }
}

/// Checks the links that a local answer follows: whether their targets are on the device.
final class LinkGuard: LinkWatcher {
    private let context: SyncContext
    private let coverage: OfflineCoverage
    /// The requests that prove the answer.
    private let names: [String]
    private let found = Mutex<String?>(nil)

    init(_ context: SyncContext, _ coverage: OfflineCoverage, _ names: [String]) {
        (self.context, self.coverage, self.names) = (context, coverage, names)
    }

    /// The missing target, if there is one.
    var missing: String? { found.withLock { $0 } }

    /// Checks the values that an expansion follows from records of a table.
    func follow(
        _ item: ODataOptions.ExpandItem, _ reference: TableSchema.Reference, from table: String, at path: String,
        _ values: [LinkValue]
    ) async throws {
        guard missing == nil, !values.isEmpty, !coverage.holds(item.options, in: reference.table) else { return }
        let names = names
        let unknown = try await context.store.read { store in
            try values.filter { value in
                try !names.contains {
                    try store.record(DownloadedLinks.id($0, path, value), in: DownloadedLinks.schema.name) != nil
                }
            }
        }
        for value in unknown {
            // All references to a record that no service has are local.
            if reference.isCollection, reference.column == "id" {
                let waiting = try await context.queue.operations(
                    TableOperation.Filter(table: table, recordID: value.id))
                if waiting.contains(where: { $0.kind == .insert }) { continue }
            }
            found.withLock {
                $0 = "what is linked by \(reference.name) to \(value.text) was not downloaded with it"
            }
            return
        }
    }
}
