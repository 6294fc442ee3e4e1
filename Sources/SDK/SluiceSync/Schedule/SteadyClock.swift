internal import SluiceBase

/// The clock by which a scheduler counts its waits, and what its times are by the clock that others read.
struct SteadyClock: Sendable {
    let environment: SyncEnvironment

    /// The time now.
    var now: Timestamp { environment.steady() }

    /// Returns the date of a time, by the wall clock as it is set now.
    func date(_ time: Timestamp) -> Timestamp { environment.now().advanced(by: now.duration(to: time)) }

    /// Returns the time of a date.
    func time(_ date: Timestamp) -> Timestamp { now.advanced(by: environment.now().duration(to: date)) }
}
