internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// Fetches rows and stores them: what a pull and a reconcile have in common.
struct RowExchange: Sendable {
    let client: SluiceClient
    let store: any LocalStore
    let options: SyncOptions
    let requests: PullRequests

    /// How often rows are read again that change here whenever they are read.
    private static let mostRounds = 10

    /// An answer to a list.
    struct Answer {
        var page: RowPage
        /// When the server answered, by its own clock.
        var date: Timestamp?
        /// The token after the page.
        var token: String?
        /// Whether the server says that nothing follows the page for now.
        var isLast = false
        /// Whether the server could not tell all of what has changed.
        var hasGap = false
        /// Whether it links to another page.
        var linksOn = false
        /// The number of rows that were asked for, where a session asked for a page.
        var asked: Int?
    }

    /// The answer to a list. An empty page that links to another is not the end, so the link is followed.
    func receive(_ request: Request) async throws -> Answer {
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

    /// Returns the number of rows of that table, or of that list of ids, that the server gave at once in earlier pulls.
    func pageSize(of table: String) async throws -> PageSize {
        let (endpoint, wanted) = (client.endpoint.identity, options.pageSize)
        return try await store.read { try PageSize(wanted: wanted, of: table, at: endpoint, in: $0) }
    }

    /// Keeps what was learnt for the next pull. What cannot be kept is learnt once more.
    func keep(_ size: PageSize, of table: String, knowing known: PageSize) async {
        guard size.isOther(than: known) else { return }
        let endpoint = client.endpoint.identity
        try? await store.write { try size.save(table, of: endpoint, in: $0) }
    }

    /// The page that a session wants, or as much of it as can come at once. A row that cannot come even alone is set
    /// aside, so that those after it come.
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
                size.take(answer.page.rows.count, of: wanted.top)
                return answer
            } catch let error as SluiceError {
                if error.code == .serverFailure, wanted.position.mayBeUnknown {
                    // One row tells whether the number is too large for the server, or the question new to it.
                    if isAskedAgain { throw error }
                    (wanted.top, isAskedAgain) = (1, true)
                    continue
                }
                if size.shrinks(after: error, asked: wanted.top) { continue }
                // A refusal of so few rows as well is none of their number.
                if error.code == .rejected { size = known }
                guard wanted.top == 1, error.mayBeOfPage else { throw error }
                return try await receiveNarrow(try requests.request(for: wanted, isNarrow: true), insteadOf: error)
            }
        }
    }

    /// Asks for the part of a row that cannot come whole.
    private func receiveNarrow(_ request: Request, insteadOf error: SluiceError) async throws -> Answer {
        guard var answer = try? await receive(request) else { throw error }
        answer.page = answer.page.settingAside("the row cannot be read: \(error.message)")
        return answer
    }

    /// Stores a page. Rows whose records have changed here since it was asked for are read again, and only then is the
    /// cursor saved.
    func store(_ came: PageCommit) async throws -> PageCommit.Outcome {
        let commit = try await reviewed(came)
        var outcome = try await store.write(at: .page, options.environment) { try commit.write(to: $0) }
        if outcome.stale.isEmpty { return outcome }
        let again = try await fetch(outcome.stale, like: commit, since: outcome.mark)
        // What the page told of these rows was not carried out, and the second read finds them no more.
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

    /// Reads rows by their ids and stores them, each as it is when nothing changes it here meanwhile.
    ///
    /// A server may send fewer rows at once than it is asked for, so it is asked again for those that did not come,
    /// until an answer brings none of them: only that one says that they are not there.
    ///
    /// - Returns: what was done. ``PageCommit/Outcome/found`` are the ids that the server has.
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
                let (page, count) = try await readSome(of: left, most: &most, size)
                let some = Array(left.prefix(count))
                var part = PageCommit(
                    table: commit.table, page: page, rows: [], cursor: commit.cursor, removals: commit.removals,
                    now: options.environment.now())
                part.removals.removed += total.deleted
                part.savesCursor = false
                part.askedAt = total.mark
                part.version = commit.version
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

    /// Asks for the first of those ids.
    ///
    /// - Parameters:
    ///   - most: how many ids to ask for at once. A server that refuses so many conditions, or so long an address, is
    ///     asked for half of them.
    ///   - known: how many rows the server is known to give at once. Where it has failed or taken too long, the next pull
    ///     asks for fewer.
    /// - Returns: the page, and how many of the ids were asked for.
    private func readSome(of ids: [RecordID], most: inout Int, _ known: PageSize) async throws
        -> (page: RowPage, count: Int)
    {
        while true {
            let (request, count) = try requests.request(someOf: ids, most: most)
            do {
                return (try await receive(request).page, count)
            } catch let error as SluiceError where count > 1 && error.mayRefuseQuestion {
                most = count / 2
            } catch let error as SluiceError where error.mayBeOfPage {
                let (narrow, _) = try requests.request(someOf: ids, most: 1, isNarrow: true)
                return (try await receiveNarrow(narrow, insteadOf: error).page, 1)
            } catch let error as SluiceError {
                var size = known
                _ = size.shrinks(after: error, asked: count)
                await keep(size, of: requests.query.table, knowing: known)
                // Fewer tell whether so many are too much for the server.
                guard count > 1, error.code == .serverFailure else { throw error }
                most = max(1, count / 10)
            }
        }
    }

    /// Stores those rows of the page that were asked for.
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
