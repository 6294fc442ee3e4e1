/// What the library takes from the world besides store and server: the time, new ids, waiting and chance. A test or a
/// simulator brings its own.
public struct SyncEnvironment: Sendable {
    /// The time now.
    public var now: @Sendable () -> Timestamp
    /// A new id for a record, an operation or a request: unique wherever it is made.
    public var makeID: @Sendable () -> String
    /// Waits: between attempts, and until the next run of a schedule. Throws `CancellationError` when the task is
    /// cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// A number from 0 to 1, by which pauses differ, so that many clients do not come back at once.
    public var random: @Sendable () -> Double
    /// Told when a commit point is reached, on either side of it. What it throws is thrown by the engine, as if the
    /// process had ended there: for simulators and tests. Does nothing by default.
    public var reached: @Sendable (CommitPoint, CommitPoint.Side) async throws -> Void
    /// Where tasks run that belong to no caller; nil for where they do anyway. For simulators.
    package var executor: (any TaskExecutor)?
    /// Where the sync context publishes commits; ``changes`` reads it.
    package var publisher: (any Sendable)?

    /// An environment.
    public init(
        now: @escaping @Sendable () -> Timestamp, makeID: @escaping @Sendable () -> String,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Pause.wait(for: $0) },
        random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        reached: @escaping @Sendable (CommitPoint, CommitPoint.Side) async throws -> Void = { _, _ in }
    ) {
        self.now = now
        self.makeID = makeID
        self.sleep = sleep
        self.random = random
        self.reached = reached
    }

    /// The machine's clock and chance, and ids that are UUIDs of version 7.
    public static let system: SyncEnvironment = {
        let ids = UUIDv7Source()
        return SyncEnvironment(now: { SystemClock.now() }, makeID: { ids.next(at: SystemClock.now()) })
    }()
}

/// A place at which something becomes durable: between two of them a process may end, and nothing is lost.
///
/// ``SyncEnvironment/reached`` is told before and after each, so that a test can end the process there.
public enum CommitPoint: String, Sendable, Hashable, CaseIterable {
    /// A local change: row and operation.
    case localChange
    /// An operation is sealed: its final body and its request id, before the first byte goes out.
    case sealed
    /// An answer is here, and nothing of it is stored yet.
    case answered
    /// What the answer means is stored: row, base and queue together.
    case applied
    /// A page's rows and the cursor after them.
    case page
    /// A query lets rows go.
    case membership
    /// The tables a store holds are changed.
    case schema
    /// A store's key is changed.
    case key

    /// On which side of a commit point something happens.
    public enum Side: String, Sendable, Hashable, CaseIterable {
        /// Nothing of it is durable yet.
        case before
        /// All of it is.
        case after
    }
}
