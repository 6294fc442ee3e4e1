internal import SluiceCore

/// Stops calls of a hook that keeps failing. Five failures within a minute open it for half a minute. If the first call
/// after that fails too, it opens for twice as long, up to an hour. A successful call closes it. Its times are of the
/// steady clock.
struct CircuitBreaker: Sendable, Hashable {
    private static let failuresToOpen = 5
    private static let window: Duration = .seconds(60)
    private static let shortest: Duration = .seconds(30)
    private static let longest: Duration = .seconds(3600)

    private var failures: [Timestamp] = []
    private var pause: Duration?
    private(set) var opensUntil: Timestamp?

    /// Whether calls are refused now.
    func isOpen(at now: Timestamp) -> Bool { opensUntil.map { now < $0 } ?? false }

    /// Records a successful call.
    mutating func succeeded() {
        guard pause != nil || !failures.isEmpty else { return }
        self = CircuitBreaker()
    }

    /// Records a failed call.
    mutating func failed(at now: Timestamp) {
        failures.removeAll { $0.duration(to: now) > Self.window }
        failures.append(now)
        if let pause {
            open(for: min(pause * 2, Self.longest), at: now)
        } else if failures.count >= Self.failuresToOpen {
            open(for: Self.shortest, at: now)
        }
    }

    private mutating func open(for pause: Duration, at now: Timestamp) {
        self.pause = pause
        opensUntil = now.advanced(by: pause)
    }
}
