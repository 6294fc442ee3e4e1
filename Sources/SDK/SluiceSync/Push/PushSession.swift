internal import SluiceBase

/// A push as a pure state machine: events in, effects out. It does no I/O and knows no clock; the driver carries the
/// effects out, side by side where there are several, and reports back.
///
/// It sends what is queued when it begins, and then once what has come after that on the same records: edits that were
/// made meanwhile, and what a conflict's decision leaves to send. All else waits for the next push, so that it ends
/// however much is written.
///
/// It runs one ``OperationSession`` for each operation that is under way and asks ``PushSchedule`` which may be next.
/// It ends early without network, without credentials, when the store fails, when it is cancelled, and when a handler
/// asks for it; what is under way by then comes to its end first, so that no answer is lost.
struct PushSession: Sendable {
    /// What the session receives.
    package indirect enum Event: Sendable {
        /// The push begins.
        case began
        /// The operations of the queue after those that are known, in order.
        case queued([QueuedOperation])
        /// The first operations of a long queue, in order, and its last place.
        case firstPart([QueuedOperation], last: Int64)
        /// The next operations of a long queue, in order; none where the last place is reached.
        case nextPart([QueuedOperation])
        /// The queue cannot be read.
        case failed(SluiceError)
        /// Something about the operation at that place of the queue.
        case operation(Int64, OperationSession.Event)
    }

    /// What the session asks its driver to do.
    indirect enum Effect: Sendable {
        /// Read the operations after that place of the queue; where none is given the first ones are enough if it is
        /// long.
        case readQueue(after: Int64?)
        /// Read the next operations after that place, up to and with the other one.
        case readPart(after: Int64, through: Int64)
        /// Read this operation, to send it.
        case load(QueuedOperation)
        /// Something for the operation at that place of the queue.
        case operation(Int64, OperationSession.Effect)
        /// The push is over.
        case finish(PushEnd)
    }

    private let columns: PushColumns
    /// How much goes on at once; it may change on the way.
    package var pace: PushPace
    private var schedule: PushSchedule
    private var sessions: [Int64: OperationSession] = [:]
    private var error: SluiceError?
    private var isFinished = false
    /// The last place of the queue when the push began, and the last that was looked at since.
    private var limit: Int64?
    private var lastRead: Int64 = 0
    /// Whether operations up to the limit are still to be read: of a long queue a part is known at a time, so that a
    /// push needs no more memory for a long queue than for a short one.
    private var hasMore = false
    private let part: Int
    private var isReading = false
    /// Records that may have later operations than those it knows: edits, or what a decision left to send. Their hashes
    /// are kept, as there may be very many. Two records of one hash would at most have an edit sent that could have
    /// waited.
    private var toReadAgain: Set<Int> = []
    /// How often it has looked for those.
    private var looks = 0
    private var passedBy: Set<String> = []
    /// The operations that wait for the next push although nothing speaks against them: they came while it ran, or a
    /// decision has put them elsewhere. Some may have gone since, with a group that was given up.
    package var waiting: Set<String> { passedBy.union(schedule.left) }

    package init(
        columns: PushColumns, pace: PushPace = PushPace(), dependencies: [TableDependency] = [],
        selection: PushSelection = PushSelection(), part: Int = 2000
    ) {
        self.columns = columns
        self.pace = pace
        self.part = part
        schedule = PushSchedule(dependencies: dependencies, selection: selection)
    }

    /// Takes an event and returns what to do next: several things may be done side by side. Nothing is said while
    /// others are still under way and have to be waited for.
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
                // The push ends, and nothing of this one has been sent.
                return end(place, .kept)
            }
            guard let effect = sessions[place]?.handle(event) else { return [] }
            guard case .end(let outcome) = effect else { return [.operation(place, effect)] }
            return end(place, outcome)
        }
    }

    /// Takes in a part of a long queue.
    private mutating func take(_ operations: [QueuedOperation]) {
        let limit = limit ?? 0
        lastRead = operations.last?.sequence ?? limit
        hasMore = lastRead < limit
        schedule.add(operations)
    }

    /// Those of the operations that came meanwhile which belong to this push.
    private mutating func admit(_ operations: [QueuedOperation]) -> [QueuedOperation] {
        let operations = operations.filter { !schedule.knows($0) }
        looks += 1
        if looks > OperationSession.maximumRounds { toReadAgain = [] }
        let taken = operations.filter { operation in
            toReadAgain.contains(operation.key.hashValue) && (operation.group.map(schedule.knows) ?? true)
                && !schedule.waits(operation, forOthersOf: operations)
        }
        toReadAgain = []
        let ids = Set(taken.map(\.id))
        passedBy.subtract(ids)
        passedBy.formUnion(
            operations.filter { !ids.contains($0.id) && !$0.isHeld && schedule.selection.takes($0) }.map(\.id))
        return taken
    }

    private mutating func end(_ place: Int64, _ outcome: OperationSession.Outcome) -> [Effect] {
        // Of what was taken in after that, only what a decision leaves to send.
        var mayHaveMore = place <= limit ?? 0
        if case .again = outcome { mayHaveMore = true }
        if mayHaveMore, let key = schedule.key(of: place) { toReadAgain.insert(key.hashValue) }
        switch outcome {
        case .again, .skipped: sessions[place]?.restart()
        case .done, .kept, .left: sessions[place] = nil
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
        // Places at the end of the queue are used again once their operations have gone. So all after those that are
        // left is new, or was passed by. A decision may have dropped others of the same records.
        return schedule.isRunning ? [] : [.readQueue(after: schedule.lastPlace(except: toReadAgain))]
    }

    private mutating func finish() -> [Effect] {
        isFinished = true
        return [.finish(error.map { .stopped($0) } ?? .completed)]
    }
}

extension OperationSession.Event {
    /// Whether the operation has only been looked at so far.
    fileprivate var isUnsent: Bool {
        switch self {
        case .loaded, .reviewed: true
        default: false
        }
    }
}

/// Which operations a push sends.
struct PushSelection: Sendable, Hashable {
    /// Those of these tables; nil means of all.
    package var tables: Set<String>?
    /// Those with one of these tags, and those of their groups; nil means all.
    package var tags: Set<String>?
    /// But not those with these ids, nor what waits for them.
    package var excluded: Set<String>
    /// Who pushes: changes of other users are not sent. Nil sends those of all.
    package var user: String?

    package init(tables: Set<String>? = nil, tags: Set<String>? = nil, excluded: Set<String> = []) {
        self.tables = tables
        self.tags = tags
        self.excluded = excluded
    }

    /// Whether the operation is one of them as far as that does not depend on its group.
    func admits(_ operation: QueuedOperation) -> Bool {
        (tables?.contains(operation.table) ?? true) && !excluded.contains(operation.id) && isOfUser(operation)
    }

    /// Whether the operation is the user's, or no user's in particular.
    func isOfUser(_ operation: QueuedOperation) -> Bool {
        operation.user.isEmpty || (user.map { operation.user.hasSameBytes(as: $0) } ?? true)
    }

    /// Whether the operation by itself is one of them.
    func takes(_ operation: QueuedOperation) -> Bool {
        admits(operation) && (tags.map { !$0.isDisjoint(with: operation.tags) } ?? true)
    }
}

/// How much of a push goes on at once.
struct PushPace: Sendable, Hashable {
    /// How many operations may be under way at once.
    package var atOnce: Int
    /// Whether the next operations are begun only when all before them have ended, so that they make one batch.
    var inRounds: Bool

    package init(atOnce: Int = 1, inRounds: Bool = false) {
        self.atOnce = atOnce
        self.inRounds = inRounds
    }
}
