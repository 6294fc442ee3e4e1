internal import HTTPTypes
internal import Logging

/// Carries a pull session's effects out: the only part of a pull that does I/O.
struct PullDriver: Sendable {
    let client: SluiceClient
    let store: any LocalStore
    let options: SyncOptions
    let query: Query
    let owner: Cursor.Owner?
    let allowsRemovals: Bool
    let progress: (@Sendable (PullProgress) -> Void)?
    private var cursor: Cursor?
    private var mark = ChangeStamps.Mark()
    private var removals: RemovalGuard
    private var result = PullResult()
    /// How many pages were asked for.
    private var asked = 0

    init(
        client: SluiceClient, store: any LocalStore, options: SyncOptions, query: Query, owner: Cursor.Owner?,
        allowsRemovals: Bool = false, progress: (@Sendable (PullProgress) -> Void)? = nil
    ) {
        self.client = client
        self.store = store
        self.options = options
        self.query = query
        self.owner = owner
        self.allowsRemovals = allowsRemovals
        self.progress = progress
        removals = RemovalGuard(options.pull, isAllowed: allowsRemovals)
    }

    private var requests: PullRequests {
        PullRequests(
            dialect: client.dialect, endpoint: client.endpoint, query: query, isNamed: owner != nil)
    }

    private var exchange: RowExchange {
        RowExchange(client: client, store: store, options: options, requests: requests)
    }

    mutating func run() async throws -> PullResult {
        let table = query.table
        cursor = try await savedCursor()
        mark = try await store.read { try ChangeStamps.mark(of: table, in: $0) }
        var session = AnySession(query: query, cursor: cursor, options: options, dialect: client.dialect)
        try await follow(&session)
        result.grade = session.grade
        if cursor != nil { try await endNamed() }
        return result
    }

    private mutating func follow(_ session: inout AnySession) async throws {
        var page: RowPage?
        var effect = session.handle(.began)
        while true {
            do {
                switch effect {
                case .request(let request):
                    try Task.checkCancellation()
                    try checkLimits()
                    asked += 1
                    let answer = try await exchange.receive(try requests.request(for: request))
                    page = answer.page
                    effect = session.handle(
                        .page(
                            PullPage(
                                rows: answer.page.rows, serverDate: answer.date,
                                localDate: options.environment.now(), token: answer.token)))
                case .commit(let rows, let position):
                    guard let stored = page else { throw SluiceError(.brokenProtocol, "there is no page to store") }
                    if session.beganAfresh { cursor?.needsReconcile = true }
                    try await commit(stored, rows, position)
                    page = nil
                    effect = session.handle(.committed)
                case .finish(nil):
                    if session.beganAfresh { cursor?.needsReconcile = true }
                    return
                case .finish(var error?):
                    error.table = error.table ?? query.table
                    throw error
                }
            } catch let error as SluiceError {
                if case .finish = effect { throw error }
                effect = session.handle(.failed(error))
            } catch {
                effect = session.handle(.failed(SluiceError(wrapping: error)))
            }
        }
    }

    private func checkLimits() throws(SluiceError) {
        let limits = options.pull
        let idle = asked - result.pages
        guard max(result.pages, idle) < limits.mostPages, result.rows < limits.mostRows else {
            throw SluiceError(
                .limitReached,
                "the pull brought \(result.rows) rows in \(asked) pages, as many as its limits allow; the next "
                    + "goes on from there", table: query.table)
        }
    }

    private mutating func commit(_ page: RowPage, _ rows: [Int], _ position: CursorPosition?) async throws {
        if let position { cursor?.position = position }
        var commit = PageCommit(
            table: query.table, page: page, rows: rows, cursor: cursor, removals: removals,
            now: options.environment.now())
        commit.savesCursor = position != nil
        commit.askedAt = mark
        commit.version = client.dialect.columns.version
        let stored = try await exchange.store(commit)
        result.add(stored)
        removals.removed += stored.deleted
        mark = stored.mark
        result.pages += 1
        options.logger.debug(
            "page stored",
            metadata: ["table": "\(query.table)", "stored": "\(stored.stored)", "deleted": "\(stored.deleted)"])
        progress?(PullProgress(table: query.table, rows: result.rows))
    }

    // MARK: The cursor

    /// The cursor as it is saved, one for a first pull, or one to start afresh with where the query has changed.
    private func savedCursor() async throws -> Cursor? {
        guard let owner else { return nil }
        let text = Cursor.text(of: query, client.dialect.odata)
        let saved = try await store.read { try $0.record(owner.id, in: Cursor.schema.name) }
        var cursor = saved.flatMap(Cursor.init(record:)) ?? Cursor(owner: owner, query: text, position: nil)
        if cursor.query != text {
            cursor.heldAll = cursor.heldAll || cursor.isOfAll
            cursor.query = text
            cursor.position = nil
            cursor.needsReconcile = true
        }
        guard !cursor.isOfAll, cursor.key == 0 else { return cursor }
        // No other may take the same key, so it is saved before it is used.
        let keyless = cursor
        return try await store.write { writer in
            var cursor = keyless
            cursor.key = try Cursor.nextKey(in: writer)
            try writer.put(cursor.record, in: Cursor.schema.name)
            return cursor
        }
    }

    /// Counts the pull, and reconciles where that is due.
    private mutating func endNamed() async throws {
        guard var cursor else { return }
        let every = options.pull.reconcileEvery
        if every != nil { cursor.pulls += 1 }
        guard cursor.needsReconcile || every.map({ cursor.pulls >= Int64($0) }) ?? false else {
            let counted = cursor
            // A pull that found no row has saved no cursor with one: that it was made is noted here.
            if every != nil || cursor.position == nil {
                try await store.write(at: .page, options.environment) {
                    try $0.put(counted.record, in: Cursor.schema.name)
                }
            }
            return
        }
        var reconcile = ReconcileDriver(
            exchange: exchange, query: query, cursor: cursor, removals: removals)
        result.reconcile = try await reconcile.run()
    }
}

extension PullResult {
    /// How many rows the server has brought that meant something here.
    fileprivate var rows: Int { stored + deleted + pending + quarantined + dropped }
}

/// The session of a named pull, or of one without a name.
private enum AnySession {
    case named(NamedPullSession)
    case full(FullPullSession)

    init(query: Query, cursor: Cursor?, options: SyncOptions, dialect: Dialect) {
        if let cursor {
            self = .named(
                NamedPullSession(
                    cursor: cursor.position, query: query, pageSize: options.pageSize,
                    commitLag: options.commitLag.ticks, untimedMayComeLast: dialect.maySortNullLast))
        } else {
            self = .full(FullPullSession(query: query, pageSize: options.pageSize))
        }
    }

    var beganAfresh: Bool {
        if case .named(let session) = self { session.beganAfresh } else { false }
    }

    var grade: PullGrade? {
        if case .named(let session) = self { session.grade } else { nil }
    }

    mutating func handle(_ event: PullEvent) -> PullEffect {
        switch self {
        case .named(var session):
            let effect = session.handle(event)
            self = .named(session)
            return effect
        case .full(var session):
            let effect = session.handle(event)
            self = .full(session)
            return effect
        }
    }
}

extension Duration {
    /// The duration in steps of 100 ns.
    fileprivate var ticks: Int64 {
        let parts = components
        return parts.seconds * Timestamp.ticksPerSecond + parts.attoseconds / 100_000_000_000
    }
}
