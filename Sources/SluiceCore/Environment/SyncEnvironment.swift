/// What the engine takes from the world besides store and server: the time, new ids, and waiting. A test or a
/// simulator brings its own.
public struct SyncEnvironment: Sendable {
    /// The time now.
    public var now: @Sendable () -> Timestamp
    /// A new id for a record or an operation: unique wherever it is made.
    public var makeID: @Sendable () -> String
    /// Told when a commit point is reached, on either side of it. What it throws is thrown by the engine, as if the
    /// process had ended there: for simulators and tests. Does nothing by default.
    public var reached: @Sendable (CommitPoint, CommitPoint.Side) async throws -> Void

    /// An environment.
    public init(
        now: @escaping @Sendable () -> Timestamp, makeID: @escaping @Sendable () -> String,
        reached: @escaping @Sendable (CommitPoint, CommitPoint.Side) async throws -> Void = { _, _ in }
    ) {
        self.now = now
        self.makeID = makeID
        self.reached = reached
    }

    /// The machine's clock, and ids that are UUIDs of version 7.
    public static let system: SyncEnvironment = {
        let ids = UUIDv7Source()
        return SyncEnvironment(now: { SystemClock.now() }, makeID: { ids.next(at: SystemClock.now()) })
    }()
}
