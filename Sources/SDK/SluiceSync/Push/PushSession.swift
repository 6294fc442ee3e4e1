internal import SluiceBase

/// A push as a pure state machine: events in, effects out. It does no I/O and knows no clock; the driver carries out
/// the effects, several of them concurrently, and reports back.
///
/// It sends the operations queued at its start, and then once the later ones on the same records: edits made since, and
/// the rest after a conflict's decision. Other new operations wait for the next push, so that this one ends however
/// much is written.
///
/// It runs one ``OperationSession`` for each running operation and gets the next ones from ``PushSchedule``. It ends
/// early without network, without credentials, when the store fails, when it is cancelled, and when a handler asks for
/// it. Running operations are finished first, so that no answer is lost.
struct PushSession: Sendable {
    /// The input of a push session.
    package indirect enum Event: Sendable {
        /// The push begins.
        case began
        /// The operations of the queue after the known ones, in order.
        case queued([QueuedOperation])
        /// The first operations of a long queue, in order, and its last place.
        case firstPart([QueuedOperation], last: Int64)
        /// The next operations of a long queue, in order; none where the last place is reached.
        case nextPart([QueuedOperation])
        /// The queue cannot be read.
        case failed(SluiceError)
        /// An event of the operation at that place of the queue.
        case operation(Int64, OperationSession.Event)
    }

    /// The output of a push session: an action for its driver.
    indirect enum Effect: Sendable {
        /// Read the operations after that place of the queue; for nil, the first part of a long queue is enough.
        case readQueue(after: Int64?)
        /// Read the next operations after the first place, up to and including the second.
        case readPart(after: Int64, through: Int64)
        /// Read this operation, to send it.
        case load(QueuedOperation)
        /// An effect of the operation at that place of the queue.
        case operation(Int64, OperationSession.Effect)
        /// The push is over.
        case finish(PushEnd)
    }

    private let columns: PushColumns
    /// The amount of concurrent work; it may change during the push.
    package var pace: PushPace
    private var schedule: PushSchedule
    private var sessions: [Int64: OperationSession] = [:]
    private var error: SluiceError?
    private var isFinished = false
    /// The last place of the queue when the push began, and the last place read since.
    private var limit: Int64?
    private var lastRead: Int64 = 0
    /// Whether operations up to the limit are still to be read. A long queue is read in parts, so that its length does
    /// not raise the memory of a push.
    private var hasMore = false
    private let part: Int
    private var isReading = false
    /// The records that may have later operations, from edits or decisions. Only hashes are kept, because there may be
    /// very many. A collision would at most send an edit earlier than necessary.
    private var toReadAgain: Set<Int> = []
    /// The number of searches for such operations.
    private var looks = 0
    /// The ids of operations that were started too often without an outcome.
    var abandoned: Set<String> { schedule.abandoned }

    package init(
        columns: PushColumns, pace: PushPace = PushPace(), dependencies: [TableDependency] = [],
        selection: PushSelection = PushSelection(), part: Int = 2000
    ) {
        self.columns = columns
        self.pace = pace
        self.part = part
        schedule = PushSchedule(dependencies: dependencies, selection: selection)
    }

    /// Handles an event and returns the next effects, which may run concurrently. Returns no effects while other
    /// operations have to finish first.
    package mutating func handle(_ event: Event) -> [Effect] {
        switch event {
        case _ where isFinished: return []
        case .began: return [.readQueue(after: nil)]
        case .queued(let operations):
            let taken = limit == nil ? operations : admit(operations)
            lastRead = operations.last?.sequence ?? lastRead
            limit = limit ?? lastRead
            schedule.add(taken)
            return taken.isEmpty ? finish() : start()
        case .firstPart(let operations, let last):
            (limit, hasMore) = (last, true)
            take(operations)
            return start()
        case .nextPart(let operations):
            isReading = false
            take(operations)
            return start()
        case .failed(let error):
            self.error = self.error ?? error
            return start()
        case .operation(let place, let event):
            if error != nil, event.isUnsent {
                // The push is ending, and this operation has not been sent.
                return end(place, .kept)
            }
            guard let effect = sessions[place]?.handle(event) else { return [] }
            guard case .end(let outcome) = effect else { return [.operation(place, effect)] }
            return end(place, outcome)
        }
    }

    /// Adds a part of a long queue.
    private mutating func take(_ operations: [QueuedOperation]) {
        let limit = limit ?? 0
        lastRead = operations.last?.sequence ?? limit
        hasMore = lastRead < limit
        schedule.add(operations)
    }

    /// Returns the newly queued operations that belong to this push.
    private mutating func admit(_ operations: [QueuedOperation]) -> [QueuedOperation] {
        let operations = operations.filter { !schedule.knows($0) }
        looks += 1
        if looks > OperationSession.maximumRounds { toReadAgain = [] }
        let taken = operations.filter { operation in
            toReadAgain.contains(operation.key.hashValue) && (operation.group.map(schedule.knows) ?? true)
                && !schedule.waits(operation, forOthersOf: operations)
        }
        toReadAgain = []
        return taken
    }

    private mutating func end(_ place: Int64, _ outcome: OperationSession.Outcome) -> [Effect] {
        // For operations added after the limit, only the rest after a decision belongs to this push.
        var mayHaveMore = place <= limit ?? 0
        if case .again = outcome { mayHaveMore = true }
        if mayHaveMore, let key = schedule.key(of: place) { toReadAgain.insert(key.hashValue) }
        switch outcome {
        case .again, .skipped: sessions[place]?.restart()
        case .done, .kept: sessions[place] = nil
        case .stopped(let error):
            sessions[place] = nil
            self.error = self.error ?? error
        }
        schedule.end(place, outcome)
        return start()
    }

    private mutating func start() -> [Effect] {
        guard error == nil else { return schedule.isRunning ? [] : finish() }
        if isReading { return [] }
        if hasMore, schedule.needsMore(pace, part) {
            isReading = true
            return [.readPart(after: lastRead, through: limit ?? 0)]
        }
        let started = schedule.start(pace)
        for operation in started where sessions[operation.sequence] == nil {
            sessions[operation.sequence] = OperationSession(columns: columns)
        }
        if !started.isEmpty { return started.map { .load($0) } }
        // Places at the end of the queue are reused after their operations have left. So every operation after the
        // remaining ones is new, or was passed by. A decision may have removed others of the same records.
        return schedule.isRunning ? [] : [.readQueue(after: schedule.lastPlace(except: toReadAgain))]
    }

    private mutating func finish() -> [Effect] {
        isFinished = true
        return [.finish(error.map { .stopped($0) } ?? .completed)]
    }
}

extension OperationSession.Event {
    /// Whether the operation has only been read so far, not sent.
    fileprivate var isUnsent: Bool {
        switch self {
        case .loaded, .reviewed: true
        default: false
        }
    }
}

/// The selection of operations that a push sends.
struct PushSelection: Sendable, Hashable {
    /// The tables to push; nil means all.
    package var tables: Set<String>?
    /// The tags of operations to push, together with their groups; nil means all operations.
    package var tags: Set<String>?
    /// The ids of operations to leave out, together with the operations that wait for them.
    package var excluded: Set<String>
    /// The pushing user: changes of other users are not sent. Nil sends the changes of all.
    package var user: String?

    package init(tables: Set<String>? = nil, tags: Set<String>? = nil, excluded: Set<String> = []) {
        self.tables = tables
        self.tags = tags
        self.excluded = excluded
    }

    /// Whether the operation is selected by its table, id and user; tags depend on its group.
    func admits(_ operation: QueuedOperation) -> Bool {
        (tables?.contains(operation.table) ?? true) && !excluded.contains(operation.id) && isOfUser(operation)
    }

    /// Whether the operation belongs to the user, or to no particular user.
    func isOfUser(_ operation: QueuedOperation) -> Bool {
        operation.user.isEmpty || (user.map { operation.user.hasSameBytes(as: $0) } ?? true)
    }
}

/// The amount of concurrent work of a push.
struct PushPace: Sendable, Hashable {
    /// The number of operations that may run at once.
    package var atOnce: Int
    /// Whether the next operations begin only after all before them have ended, so that they form one batch.
    var inRounds: Bool

    package init(atOnce: Int = 1, inRounds: Bool = false) {
        self.atOnce = atOnce
        self.inRounds = inRounds
    }
}
