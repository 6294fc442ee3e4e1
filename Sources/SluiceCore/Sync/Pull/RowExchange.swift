internal import HTTPTypes

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
        /// The token behind the page.
        var token: String?
    }

    func receive(_ request: Request) async throws -> Answer {
        let response = try await client.send(request)
        let page = try client.dialect.page(in: response, for: request.context, setsAside: true)
        return Answer(
            page: page, date: response.head.headerFields[.date].flatMap { HTTPDate.timestamp($0) },
            token: ChangeTokens.token(in: response))
    }

    /// Stores a page. Rows whose records have changed here since it was asked for are read again, and only then is the
    /// cursor saved.
    func store(_ came: PageCommit) async throws -> PageCommit.Outcome {
        let commit = try await reviewed(came)
        if planted(.cursorBeforeRows), let cursor = commit.cursor {
            try await store.write { try $0.put(cursor.record, in: Cursor.schema.name) }
        }
        var outcome = try await store.write(at: .page, options.environment) { try commit.write(to: $0) }
        if outcome.stale.isEmpty { return outcome }
        let again = try await fetch(outcome.stale, like: commit, since: outcome.mark)
        outcome.add(again)
        outcome.stale = []
        if let cursor = commit.cursor, commit.savesCursor {
            try await store.write(at: .page, options.environment) {
                try $0.put(cursor.record, in: Cursor.schema.name)
            }
        }
        return outcome
    }

    /// Reads rows by their ids and stores them, each as it is when nothing changes it here meanwhile.
    ///
    /// - Returns: what was done. ``PageCommit/Outcome/found`` are the ids that the server has.
    func fetch(_ ids: [String], like commit: PageCommit, since mark: ChangeStamps.Mark) async throws
        -> PageCommit.Outcome
    {
        var total = PageCommit.Outcome()
        total.mark = mark
        total.commits = 0
        var waiting = ids
        for _ in 0..<Self.mostRounds where !waiting.isEmpty {
            var again: [String] = []
            for start in stride(from: 0, to: waiting.count, by: PullRequests.mostIDs) {
                let some = Array(waiting[start..<min(start + PullRequests.mostIDs, waiting.count)])
                var part = PageCommit(
                    table: commit.table, page: try await receive(try requests.request(ids: some)).page, rows: [],
                    cursor: commit.cursor, removals: commit.removals, now: options.environment.now())
                part.removals.removed += total.deleted
                part.savesCursor = false
                part.askedAt = total.mark
                part.version = commit.version
                let outcome = try await storeAsked(some, part)
                again += outcome.stale
                total.add(outcome)
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

    /// Stores those rows of the page that were asked for.
    private func storeAsked(_ ids: [String], _ part: PageCommit) async throws -> PageCommit.Outcome {
        let asked = Set(ids.map(ExactText.init))
        let rows = part.page.rows.indices.filter { asked.contains(ExactText(part.page.rows[$0].id)) }
        let commit = try await reviewed(part.taking(rows))
        var outcome = try await store.write(at: .page, options.environment) { try commit.write(to: $0) }
        outcome.found = Set(rows.map { ExactText(part.page.rows[$0].id) })
        return outcome
    }
}
