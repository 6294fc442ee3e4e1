internal import SluiceBase
internal import SluiceSync
internal import Synchronization

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
