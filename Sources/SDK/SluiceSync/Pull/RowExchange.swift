internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// Fetches rows and stores them, for both pull and reconcile.
struct RowExchange: Sendable {
    let client: SluiceClient
    let store: any LocalStore
    let options: SyncOptions
    let requests: PullRequests

    /// The maximum number of reads of rows that change here during each read.
    private static let mostRounds = 10
    /// The longest time for which an index may lack a row after its last change.
    private static let indexLag = Duration.seconds(86_400)

    /// An answer to a list.
    struct Answer {
        var page: RowPage
        /// The time of the server's answer, by its own clock.
        var date: Timestamp?
        /// The token after the page.
        var token: String?
        /// Whether the server reports that nothing follows the page for now.
        var isLast = false
        /// Whether the server could not report all changes.
        var hasGap = false
        /// Whether it links to another page.
        var linksOn = false
        /// The number of requested rows, for a session's page.
        var asked: Int?
    }

    /// Sends a list request and returns its answer. An empty page with a link is not the end, so the link is followed.
    func receive(_ request: SyncRequest) async throws -> Answer {
        var request = request
        var paths: Set<String> = []
        while true {
            let response = try await client.send(request)
            let page = try client.dialect.page(in: response, for: request.context, setsAside: true)
            let next = client.dialect.linkedPage(
                after: response, page: page, request: request, endpoint: client.endpoint)
            if page.rows.isEmpty, let next {
                try Task.checkCancellation()
                guard paths.count < options.pull.maximumPages, paths.insert(next.head.path ?? "").inserted else {
                    throw SluiceError(
                        .brokenProtocol, "the server links empty pages to each other without end",
                        table: requests.query.table)
                }
                request = next
                continue
            }
            return Answer(
                page: page, date: response.head.headerFields[.date].flatMap { HTTPDate.timestamp($0) },
                token: ChangeTokens.token(in: response), isLast: ChangeTokens.isLast(response),
                hasGap: ChangeTokens.hasGap(response), linksOn: next != nil)
        }
    }

    /// Returns the number of rows that the server gave at once in earlier pulls, of a table or a list of its ids.
    func pageSize(of table: String) async throws -> PageSize {
        let (endpoint, wanted) = (client.endpoint.identity, options.pageSize)
        return try await store.read { try PageSize(wanted: wanted, of: table, at: endpoint, in: $0) }
    }

    /// Saves the learnt page size for the next pull. If that fails, it is learnt again.
    func keep(_ size: PageSize, of table: String, knowing known: PageSize) async {
        guard size.isOther(than: known) else { return }
        let endpoint = client.endpoint.identity
        try? await store.write { try size.save(table, of: endpoint, in: $0) }
    }

    /// Returns the page for a session, or as many of its rows as the server can send at once. A row that fails even
    /// alone is set aside, so that later rows can come.
    func page(_ wanted: PullRequest, _ size: inout PageSize) async throws -> Answer {
        let known = size
        var wanted = wanted
        var isAskedAgain = false
        while true {
            wanted.top = min(wanted.top, size.rows)
            let request = try requests.request(for: wanted)
            do {
                var answer = try await receive(request)
                answer.asked = wanted.top
                size.take(answer.page.rows.count, of: wanted.top, isAccepted: !wanted.asksForToken)
                return answer
            } catch let error as SluiceError {
                // A server may refuse to count, fail at it, or take too long.
                if wanted.isCounted, !error.isEndOfPush || error.code == .timeout {
                    wanted.isCounted = false
                    continue
                }
                if error.code == .serverFailure, wanted.position.mayBeUnknown {
                    // One row shows whether the number is too large for the server, or the condition unknown to it.
                    if isAskedAgain { throw error }
                    (wanted.top, isAskedAgain) = (1, true)
                    continue
                }
                if size.shrinks(after: error, asked: wanted.top) { continue }
                // If even one row is refused, the number was not the reason.
                if error.code == .rejected { size = known }
                guard wanted.top == 1, error.mayBeOfPage else { throw error }
                return try await receiveNarrow(try requests.request(for: wanted, isNarrow: true), insteadOf: error)
            }
        }
    }

    /// Requests only id, version and time of a row that cannot come whole.
    private func receiveNarrow(_ request: SyncRequest, insteadOf error: SluiceError) async throws -> Answer {
        guard var answer = try? await receive(request) else { throw error }
        answer.page = answer.page.settingAside("the row cannot be read: \(error.message)")
        return answer
    }

    /// Stores a page. Rows whose records have changed here since its request are read again, and only then is the
    /// cursor saved.
    func store(_ came: PageCommit) async throws -> PageCommit.Outcome {
        let commit = try await reviewed(came)
        var outcome = try await store.write(at: .page, options.environment) { try commit.write(to: $0) }
        if outcome.stale.isEmpty { return outcome }
        let again = try await fetch(outcome.stale, like: commit, since: outcome.mark)
        // The page's changes of these rows were not stored, and the second read no longer finds them.
        outcome.toRecheck += outcome.stale.filter { !again.found.contains($0) }
        outcome.add(again)
        outcome.stale = []
        if var cursor = commit.cursor, commit.savesCursor {
            cursor.recheckLater(outcome.toRecheck)
            let owing = cursor
            try await store.write(at: .page, options.environment) {
                try $0.put(owing.record, in: Cursor.schema.name)
            }
        }
        return outcome
    }

    /// Reads rows by their ids and stores them. A row that changes here during the read is read again.
    ///
    /// A server may send fewer rows at once than requested, so missing rows are requested again until an answer brings
    /// none of them: only that proves that they do not exist.
    ///
    /// - Returns: the outcome; ``PageCommit/Outcome/found`` has the ids that exist on the server.
    func fetch(_ ids: [RecordID], like commit: PageCommit, since mark: ChangeStamps.Moment) async throws
        -> PageCommit.Outcome
    {
        var total = PageCommit.Outcome()
        total.mark = mark
        total.commits = 0
        var waiting = ids
        let size = try await pageSize(of: commit.table)
        var most = size.rows < size.wanted ? min(PullRequests.mostIDs, size.rows) : PullRequests.mostIDs
        for _ in 0..<Self.mostRounds where !waiting.isEmpty {
            var again: [RecordID] = []
            var left = waiting
            while !left.isEmpty {
                let requestedAt = options.environment.now()
                let (page, count) = try await readSome(of: left, most: &most, size)
                let some = Array(left.prefix(count))
                var part = PageCommit(
                    table: commit.table, page: page, rows: [], cursor: commit.cursor, removals: commit.removals,
                    now: options.environment.now())
                part.removals.removed += total.deleted
                part.savesCursor = false
                part.askedAt = total.mark
                part.requestedAt = requestedAt
                part.columns = commit.columns
                part.time = commit.time
                part.server = client.endpoint.identity
                part.references = options.idReferences
                let outcome = try await storeAsked(some, part)
                again += outcome.stale
                total.add(outcome)
                if outcome.found.isEmpty {
                    left.removeFirst(count)
                } else {
                    left.removeAll { outcome.found.contains($0) }
                }
            }
            waiting = again
        }
        guard waiting.isEmpty else {
            throw SluiceError(
                .storeBusy, "records change here as often as they are read from the server; pull again later",
                table: commit.table)
        }
        return total
    }

    /// Returns the rows that lists leave out although the server shows them by their ids and they belong to the query: an
    /// index may lag. A row that changed more than a day ago is not returned, because servers may hide rows from lists for
    /// good.
    ///
    /// - Throws: ``SluiceError`` of a failure that may pass. A server that does not answer by id has none of them.
    func unlisted(_ ids: [RecordID]) async throws -> Set<RecordID> {
        let (table, columns) = (requests.query.table, client.dialect.pushColumns)
        let evaluator = try? TableQuery.Evaluator(TableQuery(table, filter: requests.query.filter), schema: nil)
        var unlisted: Set<RecordID> = []
        for id in ids {
            try Task.checkCancellation()
            var request = client.dialect.lookup(table: table, id: id, endpoint: client.endpoint)
            request.context.source = .pull
            do {
                let response = try await client.send(request)
                guard let record = try client.dialect.record(in: response, for: request.context),
                    columns.id(record)?.isSame(as: id) ?? false, !columns.isDeleted(record),
                    evaluator?.matches(record) ?? true
                else { continue }
                let time = record[client.dialect.columns.updatedAt]?.string.flatMap { Timestamp($0) }
                if let time, time.duration(to: options.environment.now()) > Self.indexLag { continue }
                unlisted.insert(id)
            } catch let error as SluiceError where error.showsNoRow {
                continue
            }
        }
        return unlisted
    }

    /// Requests the first of the ids.
    ///
    /// - Parameters:
    ///   - most: the number of ids to request at once. It is halved if a server refuses the number of conditions or the
    ///     length of the address.
    ///   - known: the number of rows that the server is known to send at once. After a failure or a timeout the next
    ///     pull requests fewer.
    /// - Returns: the page, and the number of requested ids.
    private func readSome(of ids: [RecordID], most: inout Int, _ known: PageSize) async throws
        -> (page: RowPage, count: Int)
    {
        while true {
            let (request, count) = try requests.request(someOf: ids, most: most)
            do {
                return (try await receive(request).page, count)
            } catch let error as SluiceError where count > 1 && error.mayRefuseIDs {
                most = count / 2
            } catch let error as SluiceError where error.mayBeOfPage {
                let (narrow, _) = try requests.request(someOf: ids, most: 1, isNarrow: true)
                return (try await receiveNarrow(narrow, insteadOf: error).page, 1)
            } catch let error as SluiceError {
                var size = known
                _ = size.shrinks(after: error, asked: count)
                await keep(size, of: requests.query.table, knowing: known)
                // A smaller request shows whether the number was too large for the server.
                guard count > 1, error.code == .serverFailure else { throw error }
                most = max(1, count / 10)
            }
        }
    }

    /// Stores the requested rows of the page.
    private func storeAsked(_ ids: [RecordID], _ part: PageCommit) async throws -> PageCommit.Outcome {
        let asked = Set(ids.map(\.caseless))
        let rows = part.page.rows.indices.filter { asked.contains(part.page.rows[$0].id.caseless) }
        let commit = try await reviewed(part.taking(rows))
        var outcome = try await store.write(at: .page, options.environment) { try commit.write(to: $0) }
        let came = Set(rows.map { part.page.rows[$0].id.caseless })
        outcome.found = Set(ids.filter { came.contains($0.caseless) })
        return outcome
    }
}

extension SluiceError {
    /// Whether the answer to a request by an id shows no row: there is none, it is hidden, or the server has no such
    /// route.
    fileprivate var showsNoRow: Bool { !isEndOfPush && (!mayPass || status == 500) }
}
