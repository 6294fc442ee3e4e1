internal import SluiceBase
internal import SluiceSync

/// Downloads one defining request: its own records by a named pull, then along each link that it expands those that are
/// linked to them.
struct RequestDownload {
    let store: OfflineStore
    var defined: DefinedRequest
    let allowsMassRemoval: Bool
    var report: (@Sendable (_ table: String, _ rows: Int, _ bytes: Int) -> Void)?
    private(set) var result = DownloadResult()
    /// The named queries of this download.
    private var parts: [DefinedRequest.Part] = []
    /// The values that were followed, by the path of navigation properties.
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
        let query = Query(request.table, filter: request.options.filter)
        if defined.isExpanded, !request.options.expand.isEmpty {
            // From the first page on there may be records whose links are still to come.
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
            // They are let go by a later download, when no change waits.
        }
    }

    /// Notes why the download ended early. The named queries that were pulled are kept, so that they can be let go.
    mutating func note(_ error: any Error) async throws {
        defined.parts += parts.filter { !defined.parts.contains($0) }
        defined.failure = (error as? SluiceError)?.message ?? "\(error)"
        // A disk that is full cannot take the note either; the request counts as incomplete without it.
        try? await store.save(defined)
    }

    private mutating func pull(_ query: Query, named name: String, allowsRemovals: Bool) async throws {
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

    private func needsReconcile(_ query: Query, _ grade: PullGrade?) -> Bool {
        switch store.options.reconciling {
        case .never: false
        case .always: true
        case .whereNeeded: query.filter != nil && (grade == .keyset || grade == .timestamps)
        }
    }

    /// The records of a query that are here.
    private func held(_ query: Query, isNeeded: Bool) async throws -> [JSON] {
        guard isNeeded else { return [] }
        return try await context.store.read { try $0.records(matching: query) }
    }

    /// Downloads what records are linked to: those with the values that link them, some values in each named query.
    ///
    /// A value is always in the query of the same number while there are about as many values, so that one record more
    /// changes one query and leaves the cursors of the others where they are.
    private mutating func expand(_ item: ExpandItem, of rows: [JSON], in table: String, path: String) async throws {
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
            var query = Query(reference.table, filter: .membership(.column(reference.targetColumn), literals))
            if let filter = item.options.filter { query = query.where(QueryTerm(filter)) }
            let queryName = Self.queryName(defined.request.name, path, "\(buckets.all.count).\(index)")
            try await pull(query, named: queryName, allowsRemovals: true)
            linked += try await held(query, isNeeded: !item.options.expand.isEmpty || item.options.levels != nil)
        }
        for inner in item.options.expand { try await expand(inner, of: linked, in: reference.table, path: path) }
        if let again = Self.repeated(item, reference, table, depth: path.split(separator: "/").count), !linked.isEmpty {
            try await expand(again, of: linked, in: reference.table, path: path)
        }
    }

    /// The name of a query along a path; of a long path its digest stands for it.
    private static func queryName(_ request: String, _ path: String, _ bucket: String) -> String {
        let isLong = path.utf8.count > 100
        let short = isLong ? "/" + String(FNV1a.spread(FNV1a.hash(path.utf8)), radix: 16) : path
        return "\(DefinedRequest.queryName(request))\(short)#\(bucket)"
    }

    /// The item once more, as `$levels` asks; `max` is eight times.
    private static func repeated(
        _ item: ExpandItem, _ reference: TableSchema.Reference, _ table: String, depth: Int
    ) -> ExpandItem? {
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

/// Values that link records, spread over so many named queries that each asks for about 24 values.
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

/// How far a download has come.
public struct DownloadProgress: Sendable, Hashable {
    /// The defining request that is downloaded, counted from 1.
    public var step: Int
    /// How many defining requests are downloaded.
    public var steps: Int
    /// The name of the defining request.
    public var request: String
    /// The table that rows come of at the moment.
    public var table: String
    /// How many rows of the table have come for this request.
    public var rows: Int
    /// How many bytes of bodies have come for them, decoded.
    public var bytes: Int
}

/// What a download brought.
public struct DownloadResult: Sendable, Hashable {
    /// How many rows were stored.
    public var stored = 0
    /// How many rows were removed: deleted at the service, or let go by the last request that held them.
    public var removed = 0
    /// The names of the defining requests that were downloaded whole.
    public var requests: [String] = []
}

extension OfflineStore {
    /// Brings what has changed at the service since the last download, of all defining requests or of those named.
    ///
    /// If changes wait in the queue, they are uploaded first. A request that fails does not keep the others from being
    /// downloaded, except where the service cannot be reached; ``requests()`` says of each what has become of it. What came
    /// before a failure stays and can be read, and the next download goes on from there; until it has succeeded once, a
    /// request covers nothing.
    ///
    /// - Parameters:
    ///   - names: the defining requests; nil means all.
    ///   - allowsMassRemoval: whether more rows may be removed than ``PullOptions`` lets it unasked.
    ///   - progress: told after each page.
    /// - Throws: the first error, after the other requests were tried; ``SluiceError`` of code `invalidArgument` for a name
    ///   that there is not.
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
        // A disk that is full cannot take this either.
        do { try await stored.save(to: context.store) } catch { failure = failure ?? error }
        if let failure { throw failure }
        return result
    }
}
