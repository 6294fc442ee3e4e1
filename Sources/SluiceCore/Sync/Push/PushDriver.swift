internal import Logging
internal import Synchronization

/// Carries a push session's effects out: the only part of a push that does I/O.
struct PushDriver: Sendable {
    let client: SluiceClient
    let store: any LocalStore
    let options: SyncOptions
    let tables: Set<String>?
    let tags: Set<String>?

    private var columns: PushColumns { client.dialect.pushColumns }
    private var committer: PushCommitter {
        PushCommitter(
            columns: columns, environment: options.environment, maximumAttempts: options.maximumAttempts)
    }

    func run() async throws -> PushResult {
        var session = PushSession(columns: columns)
        var effect = session.handle(.began)
        var applied = 0
        var conflicts = 0
        var failed: Set<String> = []
        while true {
            switch effect {
            case .finish(let end):
                let operations = try? await store.read { try QueueReader($0).all() }
                let failures = (operations ?? []).filter { failed.contains($0.id) && $0.failure != nil }
                var error: SluiceError?
                if case .stopped(let reason) = end { error = reason }
                return PushResult(
                    end: .init(end), error: error, applied: applied, conflicts: conflicts, failures: failures,
                    remaining: operations?.count ?? 0)
            case .commit(.kept(let item, let state, let failure, _)):
                failed.insert(item.operation.id)
                log(item, state, failure)
            case .commit(.held(let item, let state, let failure, _)):
                failed.insert(item.operation.id)
                log(item, state, failure)
            case .decide(let conflict):
                conflicts += 1
                options.logger.info("conflict", metadata: conflict.operation.logMetadata)
            default: break
            }
            let event = await perform(effect)
            if case (.commit(.applied(let item, _)), .committed) = (effect, event) {
                applied += 1
                options.logger.debug("operation applied", metadata: item.operation.logMetadata)
            }
            effect = session.handle(event)
        }
    }

    private func log(_ item: PushItem, _ state: TableOperation.State, _ failure: TableOperation.Failure?) {
        var metadata = item.operation.logMetadata
        metadata["state"] = "\(state.rawValue)"
        metadata["reason"] = "\(failure?.code ?? "")"
        options.logger.info("operation kept", metadata: metadata)
    }

    private func perform(_ effect: PushEffect) async -> PushEvent {
        do {
            switch effect {
            case .load(let sequence):
                try Task.checkCancellation()
                return try await .loaded(load(after: sequence))
            case .send(let item): return await send(item)
            case .readBack(let table, let id): return try await .readBack(readBack(table, id))
            case .probe(let table): return try await .probed(probe(table))
            case .decide(let conflict): return try await .decided(decide(conflict))
            case .commit(let commit):
                let committer = committer
                try await store.write(at: .applied, options.environment) { try committer.write(commit, in: $0) }
                return .committed
            case .finish: return .committed
            }
        } catch {
            return .failed(SluiceError(wrapping: error))
        }
    }

    private func load(after sequence: Int64) async throws -> PushItem? {
        let (tables, tags) = (tables, tags)
        return try await store.read { reader in
            let queue = QueueReader(reader)
            guard var operation = try queue.nextToSend(after: sequence, in: tables, tags: tags) else { return nil }
            let (table, id) = (operation.table, operation.recordID)
            let state = try queue.state(of: id, in: table)
            // A frozen body stays as it is: the record has moved on, and its successor will say so.
            let isFrozen = try operation.state == .inFlight || queue.all(on: id, in: table).count > 1
            let made = operation.sentAsIs?.local ?? operation.frozen
            // Nobody waits for that send's answer any more: the process ended, or its commit failed.
            if operation.state == .inFlight { operation.isUncertain = true }
            let local: JSON?
            switch operation.kind {
            case .undelete: local = state?.base
            case .insert, .update: local = try isFrozen && made != nil ? made : reader.record(id, in: table)
            case .delete: local = nil
            }
            return PushItem(operation: operation, local: local, base: state?.base)
        }
    }

    private func send(_ item: PushItem) async -> PushEvent {
        let prepared: PushItem
        do {
            switch try await prepareUndelete(item) {
            case .item(let item): prepared = item
            case .answer(let answer): return .answered(item, answer)
            }
        } catch {
            return .unanswered(item, SluiceError(wrapping: error), wasSent: false)
        }
        return await sendPrepared(prepared)
    }

    private func sendPrepared(_ item: PushItem) async -> PushEvent {
        let sealed = Mutex(Sealed(item: item))
        do {
            var request = try PushRequests(dialect: client.dialect, endpoint: client.endpoint).request(for: item)
            let body = (try? request.body.json) ?? .null
            let (store, committer, environment) = (store, committer, options.environment)
            request.context.seal = { final in
                let (current, wasUnsent) = sealed.withLock { ($0.item, $0.wasUnsent) }
                let outgoing = try await store.write(at: .sealed, environment) {
                    try committer.seal(
                        current, request: body, final: FinalRequest(final), wasUnsent: wasUnsent, in: $0)
                }
                guard let outgoing else { throw SealRefused() }
                sealed.withLock { $0.wasSealed(as: outgoing.operation) }
                return outgoing.request
            }
            request.context.unsealed = { sealed.withLock { $0.wasUnsent = true } }
            let response = try await client.send(request)
            try await options.environment.reached(.answered, .after)
            let item = sealed.withLock { $0.item }
            return .answered(item, client.dialect.pushAnswer(response))
        } catch {
            let last = sealed.withLock { $0 }
            if last.count == 0, Self.isRefusal(error) { return .changed }
            return .unanswered(last.item, SluiceError(wrapping: error), wasSent: last.wasSent)
        }
    }

    private static func isRefusal(_ error: any Error) -> Bool {
        error is SealRefused || (error as? SluiceError)?.cause is SealRefused
    }

    /// The record by its id, from the list: the by-id route may hide a deleted one.
    func readBack(_ table: String, _ id: String) async throws -> JSON? {
        let query = Query(
            table, filter: .binary(.eq, .column(client.dialect.pushColumns.id), .literal(.string(id))), top: 1,
            includesDeleted: true)
        let page = try await list(query)
        if let index = page.rows.firstIndex(where: { ExactText($0.id) == ExactText(id) }) {
            return page.record(at: index)
        }
        guard page.rows.isEmpty else {
            throw SluiceError(
                .brokenProtocol, "the server ignores the filter on the id, so the record cannot be read back",
                table: table, recordID: id)
        }
        return nil
    }

    private func probe(_ table: String) async throws -> Bool {
        do {
            _ = try await list(Query(table, top: 1))
            return true
        } catch let error as SluiceError where error.code == .notFound {
            return false
        }
    }

    private func list(_ query: Query) async throws -> RowPage {
        var request = try client.dialect.list(table: query.table, query: query, endpoint: client.endpoint)
        request.context.source = .push
        return try await client.dialect.page(in: client.send(request), for: request.context)
    }

    private func decide(_ conflict: Conflict) async throws -> ConflictDecision {
        for handler in options.conflictHandlers {
            let decision = try await handler.decide(conflict)
            if decision != .next { return decision }
        }
        switch options.conflictPolicy {
        case .hold: return .ask
        case .serverWins: return .server
        case .clientWins: return .client
        }
    }
}

extension TableOperation {
    /// What a log line tells of an operation: nothing of its content.
    fileprivate var logMetadata: Logger.Metadata {
        ["table": "\(table)", "record": "\(recordID)", "operation": "\(id)", "kind": "\(kind.rawValue)"]
    }
}

/// The record was edited between reading and sealing the operation.
private struct SealRefused: Error {}

/// What is known of the operation while its request is under way.
private struct Sealed: Sendable {
    var item: PushItem
    /// How often it was sealed.
    var count = 0
    /// Whether the last attempt is known not to have reached the server.
    var wasUnsent = false
    /// Whether an attempt before the last may have reached it.
    private var wasSentBefore = false

    /// Whether any attempt may have reached the server.
    var wasSent: Bool { wasSentBefore || (count > 0 && !wasUnsent) }

    mutating func wasSealed(as operation: TableOperation) {
        wasSentBefore = wasSent
        item.operation = operation
        count += 1
        wasUnsent = false
    }

    init(item: PushItem) { self.item = item }
}

extension SluiceError {
    /// Any error as one of ours.
    init(wrapping error: any Error) {
        switch error {
        case let error as SluiceError: self = error
        case is CancellationError: self.init(.cancelled, "the task was cancelled")
        case is JSONParseError: self.init(.brokenProtocol, "the server's answer is not JSON", cause: error)
        default: self.init(.filter, "an unexpected error", cause: error)
        }
    }
}
