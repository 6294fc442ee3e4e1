internal import HTTPTypes
internal import Logging
internal import SluiceBase
internal import SluiceWire

/// Carries out the effects of a pull session, which does no I/O itself.
struct PullDriver: Sendable {
    let client: SluiceClient
    let store: any LocalStore
    let options: SyncOptions
    let query: TableQuery
    let owner: Cursor.Owner?
    /// Called after each page with the number of rows handled so far, and of all rows if the server counts them.
    let progress: (@Sendable (_ rows: Int, _ total: Int?) -> Void)?
    /// The number of all rows at the first page, if the server counts them.
    private var total: Int?
    private var cursor: Cursor?
    private var mark = ChangeStamps.Moment()
    /// The time at which the last page was requested.
    private var requestedAt = Timestamp(ticks: 0)
    /// The stamp of the table when the pull began, if it was empty then.
    private var stampWhenEmpty: Int64?
    private var removals: RemovalGuard
    private var result = PullResult()
    /// Whether other servers or users have pulled the table and would continue from there: see ``Cursor/isAfter(_:)``.
    private var othersGoOn = false
    /// The number of requested pages.
    private var asked = 0
    /// Whether a page has brought a row.
    private var hasBrought = false
    private var size: PageSize

    init(
        client: SluiceClient, store: any LocalStore, options: SyncOptions, query: TableQuery, owner: Cursor.Owner?,
        allowsRemovals: Bool = false, progress: (@Sendable (_ rows: Int, _ total: Int?) -> Void)? = nil
    ) {
        self.client = client
        self.store = store
        self.options = options
        self.query = query
        self.owner = owner
        self.progress = progress
        removals = RemovalGuard(options.pull, isAllowed: allowsRemovals)
        size = PageSize(wanted: options.pageSize)
    }

    private var source: RowSource {
        RowSource(endpoint: client.endpoint.identity, user: options.user)
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
        let cursors = try await store.read { try Cursor.all(of: table, in: $0) }
        othersGoOn = cursors.contains { $0.isAfter(source) }
        cursor = try await savedCursor(among: cursors.map { $0.adopted(by: source) })
        // The reconcile may remove any number of rows left by another user.
        if result.reasons.contains(.otherUser) { removals = RemovalGuard(options.pull, isAllowed: true) }
        let isEmpty: Bool
        (mark, isEmpty) = try await store.read {
            let any = TableQuery(table, top: 1, select: ["id"])
            return (try ChangeStamps.mark(of: table, in: $0), try $0.records(matching: any).isEmpty)
        }
        stampWhenEmpty = isEmpty ? mark.stamp : nil
        try await expectGhosts()
        var session = AnySession(query: query, cursor: cursor, options: options)
        try await followInPages(&session)
        result.grade = session.grade
        result.reasons += session.reasons
        if cursor != nil { try await endNamed() }
        return result
    }

    /// Follows the session with pages of the size that the server supports, and saves the learnt size.
    private mutating func followInPages(_ session: inout AnySession) async throws {
        let known = try await exchange.pageSize(of: query.table)
        size = known
        let followed: Result<Void, any Error>
        do { followed = .success(try await follow(&session)) } catch { followed = .failure(error) }
        await exchange.keep(size, of: query.table, knowing: known)
        try followed.get()
    }

    private mutating func follow(_ session: inout AnySession) async throws {
        var page: RowPage?
        var effect = session.handle(.began)
        while true {
            do {
                switch effect {
                case .request(let request):
                    let (rows, read) = try await read(request)
                    page = rows
                    effect = session.handle(.page(read))
                case .ask(let request): effect = session.handle(.answer(try await read(request).page))
                case .commit(let rows, let position):
                    // A refused request brings no page, but may change the way on.
                    guard let stored = try page ?? (rows.isEmpty ? RowPage(records: []) : nil) else {
                        throw SluiceError(.brokenProtocol, "there is no page to store")
                    }
                    if session.isDoubtful { cursor?.needsReconcile = true }
                    try await commit(stored, rows, position)
                    page = nil
                    effect = session.handle(.committed)
                case .finish(nil):
                    if session.isDoubtful { cursor?.needsReconcile = true }
                    if session.startsOver { cursor?.restart() }
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

    private mutating func read(_ request: PullRequest) async throws -> (rows: RowPage, page: PullPage) {
        try Task.checkCancellation()
        try checkLimits()
        asked += 1
        requestedAt = options.environment.now()
        var request = request
        request.isCounted = asked == 1 && progress != nil && options.pull.countsRows
        let answer = try await exchange.page(request, &size)
        if request.isCounted { total = answer.page.count }
        if !answer.page.rows.isEmpty { hasBrought = true }
        let page = PullPage(
            rows: answer.page.rows, serverDate: answer.date, askedDate: requestedAt,
            localDate: options.environment.now(), token: answer.token, isLast: answer.isLast,
            asked: answer.asked, linksOn: answer.linksOn, total: answer.page.count)
        if answer.hasGap {
            cursor?.needsReconcile = true
            cursor?.gapAt = requestedAt
        }
        return (answer.page, page)
    }

    private func checkLimits() throws(SluiceError) {
        let limits = options.pull
        let idle = asked - result.pages
        guard max(result.pages, idle) < limits.maximumPages, result.rows < limits.maximumRows else {
            throw SluiceError(
                .limitReached,
                "the pull brought \(result.rows.counted("row")) in \(asked.counted("page")), as many as its limits allow; the next "
                    + "goes on from there", table: query.table)
        }
    }

    private mutating func commit(_ page: RowPage, _ rows: [Int], _ position: CursorPosition?) async throws {
        let now = options.environment.now()
        if let position { cursor?.position = position }
        try await restartOthers()
        var commit = PageCommit(
            table: query.table, page: page, rows: rows, cursor: cursor, removals: removals, now: now)
        commit.savesCursor = position != nil
        commit.askedAt = mark
        commit.requestedAt = requestedAt
        commit.stampWhenEmpty = stampWhenEmpty
        commit.columns = client.dialect.pushColumns
        commit.server = client.endpoint.identity
        commit.references = options.idReferences
        let stored = try await exchange.store(commit)
        result.add(stored)
        cursor?.recheckLater(stored.toRecheck)
        removals.removed += stored.deleted
        mark = stored.mark
        result.pages += 1
        options.logger.debug(
            "page stored",
            metadata: ["table": "\(query.table)", "stored": "\(stored.stored)", "deleted": "\(stored.deleted)"])
        // An empty page after others only moves the cursor.
        if !rows.isEmpty || result.pages == 1 { progress?(result.rows, total.map { max($0, result.rows) }) }
    }

    // MARK: The cursor

    /// Returns the saved cursor, a new one for a first pull, or a restarted one if the query, the wire or the shape of the
    /// stored records has changed.
    private mutating func savedCursor(among cursors: [Cursor]) async throws -> Cursor? {
        guard let owner else { return nil }
        let text = Cursor.text(of: query, client.dialect.odata)
        var cursor =
            cursors.first { $0.owner.id == owner.id } ?? Cursor(owner: owner, query: text, position: nil)
        let isChanged = cursor.query != text
        if isChanged {
            cursor.heldAll = cursor.heldAll || cursor.isOfAll
            cursor.query = text
            cursor.restart()
        }
        let shape = RecordShape.current(of: query.table, client, options)
        let isReshaped = cursor.shape != shape && cursor.position != nil
        if isReshaped {
            cursor.isReshaping = true
            cursor.restart()
        }
        cursor.shape = shape
        let former = cursors.filter { $0.owner.isSameByOtherWire(owner) }
        // A push of this user may have restarted the other's queries already; the first pull still finds the rows.
        let isFirst = !cursors.contains { $0.owner.source == source && $0.position != nil }
        let isOtherUser =
            cursor.position == nil && cursors.contains { $0.isOfOtherUser(than: source, orWasRestarted: isFirst) }
        if isOtherUser {
            cursor.heldAll = true
            cursor.restart()
            result.reasons.append(.otherUser)
        }
        guard isChanged || isReshaped || isOtherUser || !former.isEmpty || (!cursor.isOfAll && cursor.key == 0) else {
            return cursor
        }
        // Saved before it is used: no other cursor may take the same key, and a changed query must not keep the
        // position of the former one.
        let unsaved = cursor
        return try await store.write { writer in
            var cursor = unsaved
            for former in former { try cursor.takeOver(former, in: writer) }
            if !cursor.isOfAll, cursor.key == 0 { cursor.key = try Cursor.nextKey(in: writer) }
            try writer.put(cursor.record, in: Cursor.schema.name)
            return cursor
        }
    }

    /// Restarts the cursors of other sources before the first rows are stored, but only after the server was reached.
    /// So trying several servers in turn does not force a full pull each time.
    private mutating func restartOthers() async throws {
        guard othersGoOn else { return }
        let (source, table) = (source, query.table)
        try await store.write { try Cursor.restartOthers(than: source, of: table, in: $0) }
        othersGoOn = false
    }

    /// Makes the first pull of a query end with a reconcile if rows are already here, for example from pushes: a server
    /// without tombstones would never report a deleted one. A waiting change may have removed such a row from the local
    /// table or from the query, and it comes back if the change is given up.
    private mutating func expectGhosts() async throws {
        guard !client.dialect.keepsDeleted, cursor?.position == nil, cursor?.needsReconcile == false else { return }
        let held = TableQuery(query.table, filter: query.filter)
        let hasRows = try await store.read { reader in
            try reader.count(matching: held) > 0 || QueueReader(reader).hasServerRecords(in: held.table)
        }
        if hasRows { cursor?.needsReconcile = true }
    }

    /// Counts the pull, then reconciles if that is due, or rechecks the rows that the query may have lost.
    private mutating func endNamed() async throws {
        guard var cursor else { return }
        let now = options.environment.now()
        cursor.pulledAt = now
        cursor.isReshaping = cursor.isReshaping && cursor.position == nil
        let compared = cursor.takeCompared(at: now)
        let every = options.pull.reconcileEvery ?? client.dialect.reconcileEvery
        if every != nil { cursor.pulls += 1 }
        let isDue = cursor.needsComparison(at: now) || every.map { cursor.pulls >= Int64($0) } ?? false
        if isDue || !cursor.toRecheck.isEmpty {
            try await restartOthers()
            var reconcile = ReconcileDriver(exchange: exchange, query: query, cursor: cursor, removals: removals)
            if isDue {
                result.reconcile = try await reconcile.run()
                return
            }
            if let settled = try await reconcile.settle(compared, isAnswered: hasBrought) {
                result.stored += settled.stored
                result.deleted += settled.removed
                return
            }
        }
        // A pull without rows has saved no cursor yet, so the pull is noted here.
        let ended = cursor
        try await store.write(at: .page, options.environment) { try $0.put(ended.record, in: Cursor.schema.name) }
    }
}

extension PullResult {
    /// The number of received rows that had an effect here.
    fileprivate var rows: Int { stored + deleted + pending + quarantined + dropped }
}

/// The session of a named or an unnamed pull.
private enum AnySession {
    case named(NamedPullSession)
    case full(FullPullSession)

    init(query: TableQuery, cursor: Cursor?, options: SyncOptions) {
        if let cursor {
            self = .named(
                NamedPullSession(
                    cursor: cursor.position, query: query, pageSize: options.pageSize,
                    commitLag: options.commitLag.ticks))
        } else {
            self = .full(FullPullSession(query: query, pageSize: options.pageSize))
        }
    }

    var isDoubtful: Bool {
        if case .named(let session) = self { session.isDoubtful } else { false }
    }

    var startsOver: Bool { if case .named(let session) = self { session.startsOver } else { false } }

    var reasons: [PullResult.Reason] {
        if case .named(let session) = self { session.reasons } else { [] }
    }

    var grade: PullResult.Grade? {
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
