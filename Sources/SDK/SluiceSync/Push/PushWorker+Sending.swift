internal import SluiceBase
internal import SluiceWire
internal import Synchronization

extension PushWorker {
    /// Sends the operations of a page, and returns an event for each.
    func send(_ page: PushPages.Page) async -> [PushSession.Event] {
        let places = page.items.map(\.place)
        func events(_ events: [OperationSession.Event]) -> [PushSession.Event] {
            zip(places, events).map { .operation($0, $1) }
        }
        if page.isBroken { return events(page.items.map { Self.skipped($0.item) }) }
        let prepared = await prepared(page.items.map(\.item))
        let items = prepared.compactMap { if case .success(let item) = $0 { item } else { nil } }
        if page.isGroup, items.count < prepared.count {
            return events(
                prepared.map {
                    switch $0 {
                    case .success(let item): Self.skipped(item)
                    case .failure(let other): other.event
                    }
                })
        }
        let group =
            page.isGroup
            ? items.first?.operation.group.map { RequestPage.Group(name: $0, count: items.count) } : nil
        var sent = await send(items, group)[...]
        return events(
            prepared.map {
                switch $0 {
                case .success: sent.popFirst() ?? .changed
                case .failure(let other): other.event
                }
            })
    }

    /// Returns the event of an operation that was not sent, because another one of its group cannot be.
    private static func skipped(_ item: PushItem) -> OperationSession.Event {
        .answered(item, PushAnswer(status: 424, isEmpty: true))
    }

    /// The event of an operation that is not sent.
    private struct Unsent: Error { let event: OperationSession.Event }

    /// Prepares the operations, those that need a read beside each other.
    private func prepared(_ items: [PushItem]) async -> [Result<PushItem, Unsent>] {
        if items.count == 1 { return [await prepared(items[0])] }
        return await withTaskGroup(of: (Int, Result<PushItem, Unsent>).self) { group in
            var results: [Result<PushItem, Unsent>?] = Array(repeating: nil, count: items.count)
            for (index, item) in items.enumerated() {
                if needsNothing(item) {
                    results[index] = .success(item)
                } else {
                    group.addTask { (index, await self.prepared(item)) }
                }
            }
            for await (index, result) in group { results[index] = result }
            return results.map { $0 ?? .failure(Unsent(event: .changed)) }
        }
    }

    private func prepared(_ item: PushItem) async -> Result<PushItem, Unsent> {
        do {
            return switch try await prepare(item) {
            case .item(let item): .success(item)
            case .answer(let item, let answer): .failure(Unsent(event: .answered(item, answer)))
            case .changed: .failure(Unsent(event: .changed))
            }
        } catch {
            return .failure(Unsent(event: .unanswered(item, SluiceError(wrapping: error), wasSent: false)))
        }
    }

    /// Sends prepared operations together.
    private func send(_ items: [PushItem], _ group: RequestPage.Group?) async -> [OperationSession.Event] {
        let requests = PushRequests(dialect: client.dialect, endpoint: client.endpoint, localOnly: options.localOnly)
        var events: [OperationSession.Event?] = Array(repeating: nil, count: items.count)
        var (sent, places): ([SyncRequest], [Int]) = ([], [])
        for (place, item) in items.enumerated() {
            do {
                var request = try requests.request(for: item)
                seal.begin(PushSeal.Flight(item, body: (try? request.body.json) ?? .null), &request)
                sent.append(request)
                places.append(place)
            } catch {
                events[place] = .unanswered(item, error, wasSent: false)
            }
        }
        let sentAt = options.environment.now()
        var answers = sent.isEmpty ? [] : await client.chain.send(RequestPage(sent, group: group))
        do {
            if answers.contains(where: { if case .success = $0 { true } else { false } }) {
                try await options.environment.reached(.answered, .after)
            }
        } catch {
            answers = answers.map { _ in .failure(error) }
        }
        for (place, answer) in zip(places, answers) {
            guard let flight = seal.end(items[place].operation.id) else { continue }
            events[place] = await withoutReplaced(event(flight, answer), sentAt)
        }
        return events.map { $0 ?? .changed }
    }

    /// Takes a record out of a refusal if its version is known to be replaced: the record has to be read back.
    private func withoutReplaced(
        _ event: OperationSession.Event, _ sentAt: Timestamp
    ) async -> OperationSession.Event {
        guard case .answered(let item, var answer) = event, answer.status >= 400,
            let version = answer.record?[columns.version]?.string
        else { return event }
        do {
            if try await isReplaced(version, of: item, sentAt) { answer.record = nil }
            return .answered(item, answer)
        } catch {
            return .failed(SluiceError(wrapping: error))
        }
    }

    private func event(
        _ flight: PushSeal.Flight, _ answer: Result<SyncResponse, any Error>
    ) -> OperationSession.Event {
        switch answer {
        case .success(let response):
            var item = flight.item
            item.answeredBy += response.madeBy
            if case .unknown(let reason)? = item.created {
                return .unanswered(item, SluiceError(.maybeApplied, reason), wasSent: true)
            }
            var answer = self.answer(response, for: item)
            answer.mayBeSent = flight.wasSent
            return .answered(item, answer)
        case .failure(let error):
            if flight.count == 0, Self.isRefusal(error) { return .changed }
            return .unanswered(flight.item, SluiceError(wrapping: error), wasSent: flight.wasSent)
        }
    }

    // MARK: Commits

    /// Writes the commits of several operations in one transaction, or each by itself if that fails.
    ///
    /// - Returns: an event for each.
    func write(_ commits: [(place: Int64, commit: PushCommit)]) async -> [PushSession.Event] {
        if commits.count > 1, commits.allSatisfy({ $0.commit.source == .push }),
            let written = try? await write(commits.map(\.commit), from: .push)
        {
            return zip(commits, written).map { .operation($0.place, $1) }
        }
        var events: [PushSession.Event] = []
        for (place, commit) in commits {
            let event: OperationSession.Event
            do {
                event = try await write([commit], from: commit.source)[0]
            } catch {
                event = .failed(SluiceError(wrapping: error))
            }
            events.append(.operation(place, event))
        }
        return events
    }

    private func write(_ commits: [PushCommit], from source: StoreChange.Source) async throws -> [OperationSession
        .Event]
    {
        // Once per table: while this push has the lease, no other source's cursor moves.
        let tables = Set(commits.compactMap(\.answeredTable)).subtracting(restarted.withLock { $0 })
        let commits = commits.map(shown)
        let written = try await store.write(at: .applied, options.environment, from: source) { writer in
            let source = RowSource(endpoint: client.endpoint.identity, user: options.user)
            for table in tables.sorted() { try Cursor.restartOthers(than: source, of: table, in: writer) }
            return try commits.map { try committer.write($0, in: writer) }
        }
        restarted.withLock { $0.formUnion(tables) }
        return zip(commits, written).map { commit, written in
            if case .doubtful(let newest) = written { return .doubted(newest: newest) }
            if case .applied(let item, let server?) = commit, let sent = item.operation.sentAsIs {
                forms.learn(from: sent.final, writtenAs: server, in: item.operation.table)
            }
            return .committed
        }
    }

    /// Returns the commit with secrets hidden in the server's record that people may read.
    private func shown(_ commit: PushCommit) -> PushCommit {
        guard case .held(let item, let state, var failure, let conflict) = commit else { return commit }
        failure.serverRecord = failure.serverRecord.map {
            client.credentials.hiding($0, besides: client.dialect.judged)
        }
        return .held(item, state, failure, conflict)
    }
}
