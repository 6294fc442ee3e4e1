internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire
internal import Synchronization

/// Carries out the effects of one operation's session, which does no I/O itself. All operations of a push share it.
final class PushWorker: Sendable {
    let client: SluiceClient
    let store: any LocalStore
    let options: SyncOptions
    let gatherer: BatchGatherer
    let forms: WrittenForms
    let partialLists: PartialLists
    let batches: BatchSupport
    let columns: PushColumns
    let committer: PushCommitter
    /// The adapter that knows the ids of new records before they are sent; nil on a wire that accepts the records' own
    /// ids.
    let naming: (any RecordNaming)?
    /// The tables whose cursors of other servers and users were restarted since the push began.
    private let restarted = Mutex<Set<String>>([])

    init(
        client: SluiceClient, store: any LocalStore, options: SyncOptions, gatherer: BatchGatherer, forms: WrittenForms,
        partialLists: PartialLists,
        batches: BatchSupport, naming: (any RecordNaming)? = nil
    ) {
        self.naming = naming
        self.client = client
        self.store = store
        self.options = options
        self.gatherer = gatherer
        self.forms = forms
        self.partialLists = partialLists
        self.batches = batches
        columns = client.dialect.pushColumns
        committer = PushCommitter(
            columns: columns, environment: options.environment, server: client.endpoint.identity,
            maximumAttempts: options.maximumAttempts,
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
        case .load(let operation): return await load([operation])[0]
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
            case .ask(let item, let sent): return try await ask(item, about: sent)
            case .decide(let conflict): return try await .decided(decide(conflict))
            case .commit(let commit):
                return try await write(commit)
            case .end: return .committed
            }
        } catch {
            return .failed(SluiceError(wrapping: error))
        }
    }

    private func write(_ commit: PushCommit) async throws -> OperationSession.Event {
        // Once per table: while this push has the lease, no other source's cursor moves.
        let table = commit.answeredTable.flatMap { table in
            restarted.withLock { $0.contains(table) } ? nil : table
        }
        let commit = shown(commit)
        let written = try await store.write(at: .applied, options.environment, from: commit.source) {
            if let table {
                let source = RowSource(endpoint: client.endpoint.identity, user: options.user)
                try Cursor.restartOthers(than: source, of: table, in: $0)
            }
            return try committer.write(commit, in: $0)
        }
        if let table { restarted.withLock { _ = $0.insert(table) } }
        if case .doubtful(let newest) = written { return .doubted(newest: newest) }
        if case .applied(let item, let server?) = commit, let sent = item.operation.sentAsIs {
            forms.learn(from: sent.final, writtenAs: server, in: item.operation.table)
        }
        return .committed
    }

    private func send(_ item: PushItem) async -> OperationSession.Event {
        let prepared: PushItem
        do {
            switch try await prepare(item) {
            case .item(let item): prepared = item
            case .answer(let item, let answer): return .answered(item, answer)
            case .changed: return .changed
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
                    // An adapter reports the request that it actually sends.
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

    static func isRefusal(_ error: any Error) -> Bool {
        error is SealRefused || (error as? SluiceError)?.cause is SealRefused
    }

    /// Returns the commit with secrets hidden in the server's record that people may read.
    private func shown(_ commit: PushCommit) -> PushCommit {
        guard case .held(let item, let state, var failure, let conflict) = commit else { return commit }
        failure.serverRecord = failure.serverRecord.map {
            client.credentials.hiding($0, besides: client.dialect.judged)
        }
        return .held(item, state, failure, conflict)
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

/// The sealing of a request was refused: the record was edited since it was read, or a repeat would differ.
struct SealRefused: Error {}

/// The state of an operation while its request is in flight.
private struct Sealed: Sendable {
    var item: PushItem
    /// The number of seals.
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
    /// Wraps any error in a ``SluiceError``.
    package init(wrapping error: any Error) {
        switch error {
        case let error as SluiceError: self = error
        case is CancellationError: self.init(.cancelled, "the task was cancelled")
        case is JSONParseError: self.init(.brokenProtocol, "the server's answer is not JSON", cause: error)
        default: self.init(.filter, "an unexpected error", cause: error)
        }
    }
}

extension PushWorker {
    /// Repeats an earlier revision of the operation under its own request id, to learn its outcome.
    ///
    /// The record is known to differ from the revision's base. So a server that remembers requests returns the
    /// remembered answer, or refuses a revision never applied.
    ///
    /// - Returns: the answer; nil if the filters now make another request of it.
    func ask(_ item: PushItem, about sent: SentBody) async throws -> OperationSession.Event {
        var earlier = item
        earlier.operation.revision = sent.revision
        earlier.local = sent.local
        // If the operation has become a delete since, or the other way round, the earlier kind is repeated.
        if sent.local == nil { earlier.operation.kind = .delete }
        let requests = PushRequests(dialect: client.dialect, endpoint: client.endpoint, localOnly: options.localOnly)
        var request = try requests.request(for: earlier)
        let id = earlier.operation.requestID
        request.context.seal = { final in
            guard let repeated = FinalRequest(final).repeating(sent) else { throw SealRefused() }
            return sent.identify(repeated, as: id)
        }
        do {
            return .asked(answer(try await client.send(request), for: item))
        } catch  where Self.isRefusal(error) {
            return .asked(nil)
        }
    }
}

/// Makes the request for an operation: the changes since its base, conditional on the base's version.
struct PushRequests {
    let dialect: Dialect
    let endpoint: Endpoint
    let localOnly: LocalOnly

    func request(for item: PushItem) throws(SluiceError) -> Request {
        let operation = item.operation
        let (table, id) = (operation.table, operation.recordID)
        let columns = dialect.pushColumns
        let version = item.base?[columns.version]?.string
        var request: Request
        switch operation.kind {
        case .insert:
            let record = columns.unset(try plain(item), in: table, of: item.local)
            request = dialect.insert(table: table, record: record, endpoint: endpoint)
        case .update:
            var changes = try plain(item)
            if dialect.patchesUpdates, let base = item.base, let local = item.local {
                let names = localOnly.columns(of: table)
                changes = Rebase.changes(from: base.without(names), to: local.without(names), system: columns.system)
                changes[columns.id] = JSON(id)
            }
            request = dialect.update(table: table, id: id, changes: changes, version: version, endpoint: endpoint)
        case .delete: request = dialect.delete(table: table, id: id, version: version, endpoint: endpoint)
        case .undelete:
            let record = dialect.undelete == .put ? try plain(item) : nil
            request = dialect.undelete(table: table, id: id, record: record, version: version, endpoint: endpoint)
        }
        request.context.source = .push
        for field in operation.headers { request.head.headerFields.append(field) }
        request.context.tags = operation.tags
        request.context.operationID = operation.requestID
        request.context.mayBeRepeat = !operation.sent.isEmpty
        request.context.mayBeApplied = operation.isUncertain
        return request
    }

    /// Returns the local record without system and local-only columns.
    private func plain(_ item: PushItem) throws(SluiceError) -> JSON {
        guard let local = item.local else {
            throw SluiceError(
                .recordMissing, "the record of a queued operation is not in the store", table: item.operation.table,
                recordID: item.operation.recordID, operationID: item.operation.id)
        }
        let system = dialect.pushColumns.system
        return RecordRules.withoutSystemColumns(local, system.union(localOnly.columns(of: item.operation.table)))
    }
}
