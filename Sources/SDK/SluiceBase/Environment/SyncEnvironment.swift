internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The library's view of the outside world, besides store and server: the time, new ids, waiting and random numbers. A
/// test or a simulator provides its own.
public struct SyncEnvironment: Sendable {
    /// Returns the present time.
    public var now: @Sendable () -> Timestamp
    /// Returns the time by a clock that nobody sets and that has any beginning. Only differences of its times mean
    /// something: pauses and time limits of this process are counted by it.
    public var steady: @Sendable () -> Timestamp
    /// Returns a new, globally unique id for a record, an operation or a request.
    public var makeID: @Sendable () -> String
    /// Waits: between attempts, and until the next run of a schedule. It throws `CancellationError` when the task is
    /// cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Returns a number from 0 to 1. Pauses vary by it, so that many clients do not return at once.
    public var random: @Sendable () -> Double
    /// Called before and after each commit point. The engine rethrows its errors, as if the process had ended there:
    /// for simulators and tests. Does nothing by default.
    public var reached: @Sendable (CommitPoint, CommitPoint.Side) async throws -> Void
    /// The executor of tasks that belong to no caller; nil for the default one. For simulators.
    package var executor: (any TaskExecutor)?
    /// The object to which the sync context publishes commits; ``changes`` reads it.
    package var publisher: (any Sendable)?

    /// Waits, or returns soon if the duration is not above zero. Unlike `Task.sleep` it releases its memory when the task
    /// is cancelled.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public static func wait(for duration: Duration) async throws { try await Pause.wait(for: duration) }

    /// An environment.
    ///
    /// - Parameter steady: ``now`` if nil.
    public init(
        now: @escaping @Sendable () -> Timestamp, steady: (@Sendable () -> Timestamp)? = nil,
        makeID: @escaping @Sendable () -> String,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await SyncEnvironment.wait(for: $0) },
        random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        reached: @escaping @Sendable (CommitPoint, CommitPoint.Side) async throws -> Void = { _, _ in }
    ) {
        self.now = now
        self.steady = steady ?? now
        self.makeID = makeID
        self.sleep = sleep
        self.random = random
        self.reached = reached
    }

    /// The machine's clock and random numbers, and ids that are UUIDs of version 7.
    public static let system: SyncEnvironment = {
        let ids = UUIDv7Source()
        return SyncEnvironment(
            now: { SystemClock.now() }, steady: { SystemClock.steady() },
            makeID: { ids.next(at: SystemClock.now()) })
    }()
}

/// A point at which data becomes durable. A process may end between two of them without a loss.
///
/// ``SyncEnvironment/reached`` is called before and after each, so that a test can end the process there.
public enum CommitPoint: String, Sendable, Hashable, CaseIterable {
    /// A local change: row and operation.
    case localChange
    /// An operation is sealed: its final body and its request id, before the first byte goes out.
    case sealed
    /// An answer has arrived, and nothing of it is stored yet.
    case answered
    /// The result of an answer is stored: row, base and queue together.
    case applied
    /// A page's rows and the cursor after them.
    case page
    /// A query releases rows.
    case membership
    /// The tables of a store are changed.
    case schema
    /// A store's key is changed.
    case key

    /// The side of a commit point.
    public enum Side: String, Sendable, Hashable, CaseIterable {
        /// Nothing of it is durable yet.
        case before
        /// All of it is durable.
        case after
    }
}

/// The machine's clocks.
package enum SystemClock {
    private static let start = ContinuousClock.now

    /// The time since the first call, which also passes while the machine sleeps.
    package static func steady() -> Timestamp {
        let start = start
        return Timestamp(ticks: 0).advanced(by: start.duration(to: .now))
    }

    /// The time now, in UTC.
    package static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(ticks: Int64(time.tv_sec) * Timestamp.ticksPerSecond + Int64(time.tv_nsec) / 100)
    }
}

/// Makes UUIDs of version 7 (RFC 9562, section 5.7). They begin with the milliseconds, so that new rows are added at an
/// index's end. Then come a counter that orders the ids of one millisecond (section 6.2, method 1), and random bits.
package final class UUIDv7Source: Sendable {
    private struct State {
        var milliseconds: UInt64 = 0
        var counter: UInt16 = 0
    }
    private let state = Mutex(State())

    package init() {}

    /// Returns a new id, larger than all earlier ones of this source.
    package func next(at time: Timestamp) -> String {
        var generator = SystemRandomNumberGenerator()
        // The system is asked once for an id, and once more where it is the first of its millisecond.
        return next(at: time, low: generator.next()) { UInt16(truncatingIfNeeded: generator.next() as UInt64) & 0x7FF }
    }

    package func next(at time: Timestamp, using generator: inout some RandomNumberGenerator) -> String {
        let fresh = UInt16.random(in: 0..<0x800, using: &generator)
        return next(at: time, low: UInt64.random(in: .min ... .max, using: &generator)) { fresh }
    }

    private func next(at time: Timestamp, low: UInt64, fresh: () -> UInt16) -> String {
        let now = UInt64(max(0, time.ticks / 10_000)) & 0xFFFF_FFFF_FFFF
        let (milliseconds, counter) = state.withLock { state in
            if now > state.milliseconds {
                state.milliseconds = now
                state.counter = fresh()
            } else if state.counter < 0xFFF {
                state.counter += 1
            } else {
                // The counter is used up, or the clock went back: run ahead of the clock.
                state.milliseconds += 1
                state.counter = 0
            }
            return (state.milliseconds, state.counter)
        }
        return Self.text(
            milliseconds << 16 | 0x7000 | UInt64(counter), low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    private static func text(_ high: UInt64, _ low: UInt64) -> String {
        String(unsafeUninitializedCapacity: 36) { text in
            var place = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    text[place] = UInt8(ascii: "-")
                    place += 1
                }
                let digit = UInt8((index < 16 ? high : low) >> UInt64(60 - index % 16 * 4) & 0xF)
                text[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                place += 1
            }
            return place
        }
    }
}
