internal import SluiceCore
internal import Synchronization

/// The one true time of a simulation. Devices and server see it through clocks of their own, which may be wrong.
final class SimulationClock: Sendable {
    private let ticks: Mutex<Int64>

    /// Begins in the year 2023.
    init() { ticks = Mutex(16_800_000_000_000_000) }

    var now: Timestamp { Timestamp(ticks: ticks.withLock { $0 }) }

    func advance(milliseconds: Int) { ticks.withLock { $0 += Int64(milliseconds) * 10_000 } }

    /// Moves on to that time, if it is not past.
    func advance(to time: Timestamp) { ticks.withLock { $0 = max($0, time.ticks) } }
}
