internal import Logging
internal import SluiceBase
internal import SluiceWire

/// Carries out a push session's effects, several of them concurrently.
struct PushDriver: Sendable {
    let client: SluiceClient
    let store: any LocalStore
    let options: SyncOptions
    let selection: PushSelection
    let batches: BatchSupport
    let forms: WrittenForms
    let partialLists: PartialLists

    func run() async throws -> PushResult {
        let worker = PushWorker(
            client: client, store: store, options: options, forms: forms, partialLists: partialLists, batches: batches)
        return await withTaskGroup(of: [PushSession.Event].self) { group in
            await run(worker, in: &group)
        }
    }

    private func run(_ worker: PushWorker, in group: inout TaskGroup<[PushSession.Event]>) async -> PushResult {
        var session = PushSession(
            columns: worker.columns, pace: pace, dependencies: options.dependencies, selection: selection,
            part: options.queuePart)
        var (tally, pages) = (PushTally(logger: options.logger), PushPages())
        var effects = session.handle(.began)
        var underWay = 0
        while true {
            tally.note(effects)
            for case .finish(let end) in effects { return await result(of: end, tally, abandoned: session.abandoned) }
            var works = works(effects, worker, &pages)
            let events: [PushSession.Event]
            if underWay == 0, works.count == 1 {
                events = await works.removeFirst()()
            } else {
                for work in works { group.addTask { await work() } }
                underWay += works.count
                guard let next = await group.next() else { return await result(of: .completed, tally) }
                underWay -= 1
                events = next
            }
            effects = []
            for event in events {
                tally.note(event)
                session.pace = pace
                let next = session.handle(event)
                if case .operation(let place, let event) = event, !next.contains(where: { $0.leadsToSend(place) }) {
                    pages.leave(place, isGone: event.isGone)
                }
                effects += next
            }
        }
    }

    /// Work that ends with events.
    private typealias Work = @Sendable () async -> [PushSession.Event]

    /// Returns the work of the effects: operations are read together, sent in pages, and committed together.
    private func works(
        _ effects: [PushSession.Effect], _ worker: PushWorker, _ pages: inout PushPages
    ) -> [Work] {
        var (loads, commits, works): ([QueuedOperation], [(place: Int64, commit: PushCommit)], [Work]) = ([], [], [])
        for effect in effects {
            switch effect {
            case .load(let operation): loads.append(operation)
            case .operation(let place, .send(let item)): pages.add(.init(place: place, item: item))
            case .operation(let place, .commit(let commit)): commits.append((place, commit))
            default: works.append { [await worker.perform(effect)] }
            }
        }
        pages.begin(loads)
        if !loads.isEmpty { works.append { [loads] in await worker.load(loads) } }
        if !commits.isEmpty { works.append { [commits] in await worker.write(commits) } }
        for page in pages.due(size) { works.append { await worker.send(page) } }
        return works
    }

    /// The maximum number of operations on a page: 1 where the server takes no batches, or a filter sees one request.
    private var size: Int { client.takesPages ? batches.size(options.batchSize) : 1 }

    /// The pace: enough operations at once to fill the batches, while the server accepts batches.
    private var pace: PushPace {
        let size = size
        return PushPace(atOnce: options.concurrency * size, inRounds: size > 1)
    }

    private func result(of end: PushEnd, _ tally: PushTally, abandoned: Set<String> = []) async -> PushResult {
        var error: SluiceError?
        if case .stopped(let reason) = end { error = reason }
        let (now, user) = (options.environment.now(), options.user)
        let (failed, postponed, isCompleted) = (tally.failed, tally.postponed, error == nil)
        var result = PushResult(
            end: .init(end), error: error, applied: tally.applied, conflicts: tally.conflicts, failures: [],
            remaining: 0)
        // Only the reported operations are read, since the queue may be long.
        let left = try? await store.read { reader in
            let (queue, outline) = (QueueReader(reader), QueueOutline(store: reader, options))
            return (
                failures: try failed.compactMap { try queue.operation($0) }.filter { $0.failure != nil },
                waiting: isCompleted ? try outline.countOfFree(selection, except: abandoned, at: now) : 0,
                postponed: try postponed.filter { try queue.operation($0) != nil },
                delayed: try queue.delayed().filter { $0.waits(at: now) }, remaining: try queue.count(),
                ofOthers: try queue.count(notOf: user)
            )
        }
        guard let left else { return result }
        result.failures = left.failures.sorted { $0.sequence < $1.sequence }
        result.remaining = left.remaining
        result.waiting = left.waiting
        result.postponed = left.postponed.union(left.delayed.map(\.id)).count
        result.ofOthers = left.ofOthers
        result.nextDue = left.delayed.compactMap(\.notBefore).min()
        return result
    }
}

extension PushSession.Effect {
    /// Whether the effect sends the operation's request, or may if the hooks allow it.
    fileprivate func leadsToSend(_ place: Int64) -> Bool {
        switch self {
        case .operation(place, .send), .operation(place, .review): true
        default: false
        }
    }
}

extension OperationSession.Event {
    /// Whether the operation has left the queue.
    fileprivate var isGone: Bool { if case .notLoaded(.gone) = self { true } else { false } }
}

/// The counts of a push so far, and its log.
private struct PushTally {
    let logger: Logger
    var applied = 0
    var conflicts = 0
    var failed: Set<String> = []
    /// The ids of operations that a hook postponed.
    var postponed: Set<String> = []
    /// Operations turned into restores by a decision; another operation may carry the rest of the change.
    private var restoring: Set<String> = []
    /// The records restored this way: the next update of each is the rest of a change already counted.
    private var restored: Set<RecordID> = []
    /// The operations being committed as applied, by place.
    private var applying: [Int64: TableOperation] = [:]

    init(logger: Logger) { self.logger = logger }

    mutating func note(_ effects: [PushSession.Effect]) {
        for case .operation(let place, let effect) in effects {
            switch effect {
            case .commit(.kept(let item, let state, let failure, _)): note(item, state, failure)
            case .commit(.held(let item, let state, let failure, _)): note(item, state, failure)
            case .commit(.hooked(let item, let commit)): note(item, commit)
            case .commit(.decided(let item, let conflict, _)) where conflict.isDeletedOnServer:
                if item.operation.kind != .undelete { restoring.insert(item.operation.id) }
            case .commit(.applied(let item, _)), .commit(.confirmed(let item, _, _)),
                .commit(.found(let item, _, _)), .commit(.gone(let item)):
                applying[place] = item.operation
            case .decide(let conflict):
                conflicts += 1
                logger.info("conflict", metadata: conflict.operation.logMetadata)
            default: break
            }
        }
    }

    mutating func note(_ event: PushSession.Event) {
        guard case .operation(let place, let event) = event, let operation = applying.removeValue(forKey: place),
            case .committed = event
        else { return }
        logger.debug("operation applied", metadata: operation.logMetadata)
        let record = RecordState.id(operation.table, operation.recordID)
        if operation.kind == .update, restored.remove(record) != nil { return }
        if operation.kind == .undelete, restoring.contains(operation.id) { restored.insert(record) }
        applied += 1
    }

    private mutating func note(_ item: PushItem, _ commit: HookedCommit) {
        switch commit {
        case .postponed(let failure, _) where failure.code == SluiceError.Code.postponed.description:
            postponed.insert(item.operation.id)
            logger.debug("operation postponed", metadata: item.operation.logMetadata)
        case .postponed(let failure, _), .retried(let failure, _, _): note(item, .pending, failure)
        case .changed, .cancelled: logger.info("operation changed by a hook", metadata: item.operation.logMetadata)
        }
    }

    private mutating func note(_ item: PushItem, _ state: TableOperation.State, _ failure: TableOperation.Failure?) {
        guard let failure else { return }
        failed.insert(item.operation.id)
        var metadata = item.operation.logMetadata
        metadata["state"] = "\(state.rawValue)"
        metadata["reason"] = "\(failure.code)"
        logger.info("operation kept", metadata: metadata)
    }
}

extension TableOperation {
    /// The operation's data for a log line, without its content.
    fileprivate var logMetadata: Logger.Metadata {
        ["table": "\(table)", "record": "\(recordID)", "operation": "\(id)", "kind": "\(kind.rawValue)"]
    }
}
