internal import SluiceBase
internal import SluiceSync

/// Downloads one defining request: its own records by a named pull, then the linked records along each expanded link.
struct RequestDownload {
    let store: OfflineStore
    var defined: DefinedRequest
    let allowsMassRemoval: Bool
    var report: (@Sendable (_ table: String, _ rows: Int, _ bytes: Int) -> Void)?
    private(set) var result = DownloadResult()
    /// The named queries of this download.
    private var parts: [DefinedRequest.Part] = []
    /// The link values that were followed, by the path of navigation properties.
    private var links: [String: Set<LinkValue>] = [:]

    init(store: OfflineStore, defined: DefinedRequest, allowsMassRemoval: Bool) {
        self.store = store
        self.defined = defined
        self.allowsMassRemoval = allowsMassRemoval
    }

    private var context: SyncContext { store.context }

    mutating func carryOut() async throws {
        let start = context.options.environment.now()
        let request = defined.request
        let query = TableQuery(request.table, filter: request.options.filter)
        if defined.isExpanded, !request.options.expand.isEmpty {
            // From the first page on there may be records whose links are not downloaded yet.
            defined.isExpanded = false
            try await store.save(defined)
        }
        try await pull(query, named: DefinedRequest.queryName(request.name), allowsRemovals: allowsMassRemoval)
        let rows = try await held(query, isNeeded: !request.options.expand.isEmpty)
        for item in request.options.expand { try await expand(item, of: rows, in: request.table, path: "") }
        let former = defined.parts.filter { !parts.contains($0) }
        (defined.parts, defined.downloadedAt, defined.failure) = (parts + former, start, nil)
        defined.isExpanded = true
        let links = links
        try await context.store.write { try DownloadedLinks.save(links, of: request.name, in: $0) }
        try await store.save(defined)
        guard !former.isEmpty else { return }
        do {
            try await store.release(former)
            defined.parts = parts
            try await store.save(defined)
        } catch let error as SluiceError where error.code == .operationsPending {
            // A later download releases them, when no change is queued.
        }
    }

    /// Notes the reason why the download ended early. The pulled named queries are kept, so that they can be released.
    mutating func note(_ error: any Error) async throws {
        defined.parts += parts.filter { !defined.parts.contains($0) }
        defined.failure = (error as? SluiceError)?.message ?? "\(error)"
        // A full disk cannot store the note either; the request counts as incomplete without it.
        try? await store.save(defined)
    }

    private mutating func pull(_ query: TableQuery, named name: String, allowsRemovals: Bool) async throws {
        let report = report
        let pulled = try await context.pull(query, named: name, allowsMassRemoval: allowsRemovals) { progress in
            if progress.step == .pulling { report?(query.table, progress.rows, progress.bytes) }
        }
        result.stored += pulled.brought
        result.removed += pulled.removed
        let part = DefinedRequest.Part(table: query.table, name: name)
        let isFirst = !defined.parts.contains(part) || defined.downloadedAt == nil
        parts.append(part)
        guard pulled.reconcile == nil, !isFirst, needsReconcile(query, pulled.grade) else { return }
        let mended = try await context.reconcile(query, named: name, allowsMassRemoval: allowsRemovals)
        result.removed += mended.removed
    }

    private func needsReconcile(_ query: TableQuery, _ grade: PullResult.Grade?) -> Bool {
        switch store.options.reconciling {
        case .never: false
        case .always: true
        case .whereNeeded: query.filter != nil && (grade == .keyset || grade == .timestamps)
        }
    }

    /// Returns the local records of a query.
    private func held(_ query: TableQuery, isNeeded: Bool) async throws -> [JSON] {
        guard isNeeded else { return [] }
        return try await context.store.read { try $0.records(matching: query) }
    }

    /// Downloads the linked records of records: those with the link values, some values in each named query.
    ///
    /// A value is always in the query of the same number while the number of values is similar, so that one more record
    /// changes one query and leaves the other queries' cursors as they are.
    private mutating func expand(_ item: ODataOptions.ExpandItem, of rows: [JSON], in table: String, path: String)
        async throws
    {
        guard let name = item.name else { return }
        let reference = try store.schemas.reference(name, of: table)
        let schema = store.schemas[reference.table]
        let path = "\(path)/\(name.text)"
        let values = Set(rows.compactMap { LinkValue($0, reference.column) })
        links[path, default: []].formUnion(values)
        let buckets = LinkBuckets(values)
        var linked: [JSON] = []
        for (index, bucket) in buckets.all.enumerated() where !bucket.isEmpty {
            let literals = bucket.map { $0.literal(for: reference.targetColumn, of: schema) }
            var query = TableQuery(reference.table, filter: .membership(.column(reference.targetColumn), literals))
            if let filter = item.options.filter { query = query.where(TableQuery.Term(filter)) }
            let queryName = Self.queryName(defined.request.name, path, "\(buckets.all.count).\(index)")
            try await pull(query, named: queryName, allowsRemovals: true)
            linked += try await held(query, isNeeded: !item.options.expand.isEmpty || item.options.levels != nil)
        }
        for inner in item.options.expand { try await expand(inner, of: linked, in: reference.table, path: path) }
        if let again = Self.repeated(item, reference, table, depth: path.split(separator: "/").count), !linked.isEmpty {
            try await expand(again, of: linked, in: reference.table, path: path)
        }
    }

    /// Returns the name of a query along a path; a long path is replaced by its digest.
    private static func queryName(_ request: String, _ path: String, _ bucket: String) -> String {
        let isLong = path.utf8.count > 100
        let short = isLong ? "/" + String(FNV1a.spread(FNV1a.hash(path.utf8)), radix: 16) : path
        return "\(DefinedRequest.queryName(request))\(short)#\(bucket)"
    }

    /// Returns the item nested once more, as `$levels` requires; `max` is eight times.
    private static func repeated(
        _ item: ODataOptions.ExpandItem, _ reference: TableSchema.Reference, _ table: String, depth: Int
    ) -> ODataOptions.ExpandItem? {
        guard reference.table == table, let levels = item.options.levels else { return nil }
        var again = item
        switch levels {
        case .times(let count) where count > 1 && depth < 8: again.options.levels = .times(count - 1)
        case .max where depth < 8: again.options.levels = .max
        default: return nil
        }
        return again
    }
}

/// Link values, spread over so many named queries that each asks for about 24 values.
struct LinkBuckets {
    /// Each bucket's values in the order of their bytes; a power of two of buckets.
    let all: [[LinkValue]]

    private static let fill = 24

    init(_ values: Set<LinkValue>) {
        var count = 1
        while count * Self.fill < values.count { count *= 2 }
        var buckets = [[LinkValue]](repeating: [], count: count)
        for value in values.sorted(by: { $0.id < $1.id }) {
            let hash = FNV1a.spread(FNV1a.hash(value.text.utf8))
            buckets[Int(truncatingIfNeeded: hash & UInt64(count - 1))].append(value)
        }
        all = buckets
    }
}

/// The progress of a download.
public struct DownloadProgress: Sendable, Hashable {
    /// The number of the current defining request, from 1.
    public var step: Int
    /// The total number of defining requests to download.
    public var steps: Int
    /// The name of the defining request.
    public var request: String
    /// The table whose rows are being downloaded.
    public var table: String
    /// The number of the table's rows received for this request.
    public var rows: Int
    /// The size of the received bodies in bytes, decoded.
    public var bytes: Int
}

/// The result of a download.
public struct DownloadResult: Sendable, Hashable {
    /// The number of rows stored.
    public var stored = 0
    /// The number of rows removed: deleted at the service, or released by the last request that held them.
    public var removed = 0
    /// The names of the completely downloaded defining requests.
    public var requests: [String] = []
}

extension OfflineStore {
    /// Downloads the service's changes since the last download, of all defining requests or of the named ones.
    ///
    /// Queued changes are uploaded first. A failed request does not stop the others, unless the service cannot be
    /// reached; ``requests()`` reports the state of each. Rows received before a failure stay and can be read, and the
    /// next download continues from there; until it has succeeded once, a request covers nothing.
    ///
    /// - Parameters:
    ///   - names: the defining requests; nil for all.
    ///   - allowsMassRemoval: whether more rows may be removed than ``PullOptions`` permits by default.
    ///   - progress: called after each page.
    /// - Throws: the first error, after the other requests were tried; ``SluiceError`` of code `invalidArgument` for an
    ///   unknown name.
    @discardableResult
    public func download(
        _ names: Set<String>? = nil, allowsMassRemoval: Bool = false,
        progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> DownloadResult {
        let all = try await requests()
        if let unknown = names?.subtracting(all.map(\.request.name)).sorted().first {
            throw SluiceError(.invalidArgument, "there is no defining request \"\(unknown)\"")
        }
        let chosen = all.filter { names?.contains($0.request.name) ?? true }
        let stored = DownloadedRecords()
        let watch = context.watchChanges { stored.note($0) }
        defer { withExtendedLifetime(watch) {} }
        var result = DownloadResult()
        var failure: (any Error)?
        for (index, defined) in chosen.enumerated() {
            var run = RequestDownload(store: self, defined: defined, allowsMassRemoval: allowsMassRemoval)
            if let progress {
                let (steps, name) = (chosen.count, defined.request.name)
                run.report = { table, rows, bytes in
                    progress(
                        DownloadProgress(
                            step: index + 1, steps: steps, request: name, table: table, rows: rows, bytes: bytes))
                }
            }
            do {
                try await run.carryOut()
                result.requests.append(defined.request.name)
            } catch {
                failure = failure ?? error
                try await run.note(error)
                let code = (error as? SluiceError)?.code
                if error is CancellationError || code == .network || code == .cancelled {
                    try? await stored.save(to: context.store)
                    throw error
                }
            }
            result.stored += run.result.stored
            result.removed += run.result.removed
        }
        // A full disk cannot store this either.
        do { try await stored.save(to: context.store) } catch { failure = failure ?? error }
        if let failure { throw failure }
        return result
    }
}
