internal import SluiceBase
internal import SluiceWire
internal import Synchronization

/// Carries out the effects of one operation's session, which does no I/O itself.
struct PushWorker: Sendable {
    let client: SluiceClient
    let store: any LocalStore
    let options: SyncOptions
    let gatherer: BatchGatherer
    let forms: WrittenForms
    let batches: BatchSupport

    private var columns: PushColumns { client.dialect.pushColumns }
    private var committer: PushCommitter {
        PushCommitter(
            columns: columns, environment: options.environment, maximumAttempts: options.maximumAttempts,
            references: options.assignedReferences, idReferences: options.idReferences)
    }

    func perform(_ effect: PushSession.Effect) async -> PushSession.Event {
        switch effect {
        case .readQueue(let place):
            do {
                try Task.checkCancellation()
                let options = options
                return try await store.read { try QueueOutline(store: $0, options).event(after: place) }
            } catch {
                return .failed(SluiceError(wrapping: error))
            }
        case .readPart(let place, let last):
            do {
                try Task.checkCancellation()
                let options = options
                return .nextPart(
                    try await store.read { try QueueOutline(store: $0, options).part(after: place, through: last) })
            } catch {
                return .failed(SluiceError(wrapping: error))
            }
        case .load(let operation):
            do {
                try Task.checkCancellation()
                let event = asking(try await load(operation))
                if case .notLoaded(let absence) = event { gatherer.leave(operation.id, isGone: absence == .gone) }
                return .operation(operation.sequence, event)
            } catch {
                gatherer.leave(operation.id)
                return .operation(operation.sequence, .failed(SluiceError(wrapping: error)))
            }
        case .operation(let place, let effect): return .operation(place, await perform(effect))
        case .finish: return .queued([])
        }
    }

    private func perform(_ effect: OperationSession.Effect) async -> OperationSession.Event {
        do {
            switch effect {
            case .review(let item): return await review(item)
            case .consult(let failure): return try await .consulted(consult(failure))
            case .send(let item):
                let event = await send(item)
                gatherer.leave(item.operation.id)
                return event
            case .readBack(let item):
                let found = try await readBack(item)
                return .readBack(found.record, by: found.answeredBy)
            case .decide(let conflict): return try await .decided(decide(conflict))
            case .commit(let commit):
                let committer = committer
                let source = RowSource(endpoint: client.endpoint.identity, user: options.user)
                let written = try await store.write(at: .applied, options.environment, from: commit.source) {
                    if let table = commit.answeredTable {
                        try Cursor.restartOthers(than: source, of: table, in: $0)
                    }
                    return try committer.write(commit, in: $0)
                }
                if case .doubtful(let newest) = written { return .doubted(newest: newest) }
                if case .applied(let item, let server?) = commit, let sent = item.operation.sentAsIs {
                    forms.learn(from: sent.final, writtenAs: server, in: item.operation.table)
                }
                return .committed
            case .end: return .committed
            }
        } catch {
            return .failed(SluiceError(wrapping: error))
        }
    }

    private func load(_ queued: QueuedOperation) async throws -> OperationSession.Event {
        let (options, version) = (options, client.dialect.columns.version)
        return try await store.read { reader in
            let queue = QueueReader(reader)
            // Out of a group, too, it goes only by a decision: then the others are the group.
            guard var operation = try queue.operation(queued.id) else { return .notLoaded(.gone) }
            // One that was moved after others is read again at its new place. A group is not: the others would go
            // without it, so the next push reads it anew.
            guard operation.sequence == queued.sequence else {
                return .notLoaded(queued.group == nil ? .gone : .moved)
            }
            let (table, id) = (operation.table, operation.recordID)
            let onRecord = try queue.all(on: id, in: table)
            if operation.waits(at: options.environment.now()) { return .notLoaded(.held) }
            guard !operation.isHeld, onRecord.first?.id == operation.id else { return .notLoaded(.held) }
            if try QueueOutline(store: reader, options).isAheadOfParent(queued) {
                return .notLoaded(.moved)
            }
            let state = try queue.state(of: id, in: table)
            // A frozen body stays as it is: the record has moved on, and its successor will send that.
            let isFrozen = operation.state == .inFlight || onRecord.count > 1
            let made = operation.sentAsIs?.local ?? operation.frozen
            // No task waits for that send's answer any more: the process ended, or its commit failed.
            if operation.state == .inFlight { operation.isUncertain = true }
            let local: JSON?
            switch operation.kind {
            case .undelete: local = state?.base
            case .insert, .update:
                local = isFrozen && made != nil ? made : try reader.record(id, in: table)
            case .delete: local = nil
            }
            var item = PushItem(operation: operation, local: local, base: state?.base)
            item.forms = forms.known(in: table)
            item.known = state?.mirror?[version]
            return .loaded(item)
        }
    }

    private func send(_ item: PushItem) async -> OperationSession.Event {
        let prepared: PushItem
        do {
            switch try await prepare(item) {
            case .item(let item): prepared = item
            case .answer(let item, let answer): return .answered(item, answer)
            }
        } catch {
            return .unanswered(item, SluiceError(wrapping: error), wasSent: false)
        }
        return await sendPrepared(prepared)
    }

    private func sendPrepared(_ item: PushItem) async -> OperationSession.Event {
        let sealed = Mutex(Sealed(item: item))
        do {
            let requests = PushRequests(
                dialect: client.dialect, endpoint: client.endpoint, localOnly: options.localOnly)
            var request = try requests.request(for: item)
            let body = (try? request.body.json) ?? .null
            let (store, committer, environment) = (store, committer, options.environment)
            let (endpoint, isAdapted) = (client.endpoint, client.dialect.adapter != nil)
            request.context.noteSent = { _, sent in sealed.withLock { $0.item.request = sent } }
            request.context.noteCreated = { _, note in sealed.withLock { $0.item.created = note } }
            request.context.seal = { final in
                let (current, wasUnsent) = sealed.withLock { ($0.item, $0.wasUnsent) }
                let outgoing = try await store.write(at: .sealed, environment) {
                    try committer.seal(
                        current, request: body, final: FinalRequest(final), wasUnsent: wasUnsent, in: $0)
                }
                guard let outgoing else { throw SealRefused() }
                sealed.withLock {
                    $0.wasSealed(as: outgoing.operation)
                    // An adapter says itself what it makes of it.
                    $0.item.request = isAdapted ? nil : SentRequest(outgoing.request, to: endpoint)
                }
                return outgoing.request
            }
            if batches.size(options.batchSize) > 1 || item.operation.group != nil {
                request.context.batchMember = item.operation.id
            }
            request.context.unsealed = { sealed.withLock { $0.wasUnsent = true } }
            let response = try await client.send(request)
            try await options.environment.reached(.answered, .after)
            var item = sealed.withLock { $0.item }
            item.answeredBy += response.madeBy
            if case .unknown(let reason)? = item.created {
                return .unanswered(item, SluiceError(.maybeApplied, reason), wasSent: true)
            }
            return .answered(item, answer(response, for: item))
        } catch {
            let last = sealed.withLock { $0 }
            if last.count == 0, Self.isRefusal(error) { return .changed }
            return .unanswered(last.item, SluiceError(wrapping: error), wasSent: last.wasSent)
        }
    }

    private static func isRefusal(_ error: any Error) -> Bool {
        error is SealRefused || (error as? SluiceError)?.cause is SealRefused
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

/// The record was edited between reading and sealing the operation.
private struct SealRefused: Error {}

/// The state of an operation while its request is in flight.
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
