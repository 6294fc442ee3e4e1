internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire
internal import Synchronization

/// Carries out the effects of a push, which its sessions decide without I/O.
final class PushWorker: Sendable {
    let client: SluiceClient
    let store: any LocalStore
    let options: SyncOptions
    let seal: PushSeal
    let forms: WrittenForms
    let partialLists: PartialLists
    let batches: BatchSupport
    let columns: PushColumns
    let committer: PushCommitter
    /// The adapter that knows the ids of new records before they are sent; nil on a wire that accepts the records' own
    /// ids.
    let naming: (any RecordNaming)?
    /// The tables whose cursors of other servers and users were restarted since the push began.
    let restarted = Mutex<Set<String>>([])

    init(
        client: SluiceClient, store: any LocalStore, options: SyncOptions, forms: WrittenForms,
        partialLists: PartialLists, batches: BatchSupport
    ) {
        naming = client.chain.transport as? any RecordNaming
        self.store = store
        self.options = options
        self.forms = forms
        self.partialLists = partialLists
        self.batches = batches
        columns = client.dialect.pushColumns
        committer = PushCommitter(
            columns: columns, environment: options.environment, server: client.endpoint.identity,
            maximumAttempts: options.maximumAttempts,
            references: options.assignedReferences, idReferences: options.idReferences)
        seal = PushSeal(
            store: store, committer: committer, endpoint: client.endpoint, isAdapted: client.dialect.adapter != nil)
        self.client = client.pushing(seal) { wire in
            BatchSender(wire: wire, endpoint: client.endpoint, support: batches)
        }
    }

    /// Carries out an effect that concerns one operation, or the queue.
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
        case .operation(let place, let effect): return .operation(place, await perform(effect))
        case .load, .finish: return .queued([])
        }
    }

    private func perform(_ effect: OperationSession.Effect) async -> OperationSession.Event {
        do {
            switch effect {
            case .review(let item): return await review(item)
            case .consult(let failure): return try await .consulted(consult(failure))
            case .readBack(let item):
                let found = try await readBack(item)
                return .readBack(
                    found.record, by: found.answeredBy,
                    mayLag: item.operation.mayBeUnderWay(at: options.environment.now()))
            case .ask(let item, let sent): return try await ask(item, about: sent)
            case .decide(let conflict): return try await decide(conflict)
            case .send, .commit, .end: return .committed
            }
        } catch {
            return .failed(SluiceError(wrapping: error))
        }
    }

    static func isRefusal(_ error: any Error) -> Bool {
        error is SealRefused || (error as? SluiceError)?.cause is SealRefused
    }

    private func decide(_ conflict: Conflict) async throws -> OperationSession.Event {
        for handler in options.conflictHandlers where !conflict.isEqualEdit || handler.decidesEqualEdits {
            let (decision, addsUp) =
                if let several = handler as? any CombinedConflictHandler {
                    try await several.decision(about: conflict)
                } else {
                    (try await handler.decide(conflict), handler.decidesEqualEdits)
                }
            if decision != .next { return .decided(decision, addsUp: addsUp) }
        }
        if conflict.isEqualEdit { return .decided(.next) }
        switch options.conflictPolicy {
        case .hold: return .decided(.ask)
        case .serverWins: return .decided(.server)
        case .clientWins: return .decided(.client)
        }
    }
}

extension SluiceError {
    /// Wraps any error in a ``SluiceError``.
    package init(wrapping error: any Error) {
        switch error {
        case let error as SluiceError: self = error
        case is CancellationError: self.init(.cancelled, "the task was cancelled")
        case is JSON.ParseError: self.init(.brokenProtocol, "the server's answer is not JSON", cause: error)
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
        seal.begin(PushSeal.Flight(earlier, repeating: sent), &request)
        defer { _ = seal.end(earlier.operation.id) }
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

    func request(for item: PushItem) throws(SluiceError) -> SyncRequest {
        let operation = item.operation
        let (table, id) = (operation.table, operation.recordID)
        let columns = dialect.pushColumns
        let version = item.base?[columns.version]?.string
        var request: SyncRequest
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
                for name in columns.serverSet[table] ?? [] where columns.isStale(local[name], beside: base[name]) {
                    changes[name] = nil
                }
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
        request.context.isRemade = operation.kind == .insert && (operation.attempts > 0 || !operation.sent.isEmpty)
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
