/// How far a cursor by time may be saved.
///
/// It stays behind the server's own clock, because a transaction may be committed after one that began later; and never
/// gets to a time that lies in the future, which would hide all rows up to then.
struct CursorCeiling: Sendable {
    /// How far a clock may be off before a row's time counts as wrong.
    private static let tolerance = 300 * Timestamp.ticksPerSecond
    private static let day = 86_400 * Timestamp.ticksPerSecond
    /// 2010-01-01: a clock that shows less is not set, as after a start without a battery or a network. It says nothing
    /// of rows that were stamped by another.
    private static let earliestClock = Timestamp(ticks: 1_262_304_000 * Timestamp.ticksPerSecond)

    private let commitLag: Int64
    /// The earliest time at which a clock has held the cursor back. What came before it is not read again in this pull,
    /// so a later answer does not move it.
    private var earliest: Timestamp?

    /// - Parameter commitLag: in ticks.
    init(commitLag: Int64) { self.commitLag = commitLag }

    /// The time to save in the place of `time`, or nil if that may be saved as it is.
    mutating func limit(_ time: Timestamp, at page: PullPage) -> String? {
        if planted(.commitLagIgnored) { return nil }
        if let latest = latest(at: page, of: time), time > latest.trusted {
            earliest = min(earliest ?? latest.saved, latest.saved)
        }
        guard let earliest, earliest < time else { return nil }
        return earliest.text(fractionDigits: 3)
    }

    /// The latest time that is taken as it is, and the one that is saved for any later.
    private func latest(at page: PullPage, of time: Timestamp) -> (trusted: Timestamp, saved: Timestamp)? {
        if let server = page.serverDate, server > Self.earliestClock || time.ticks <= server.ticks + Self.tolerance {
            let saved = Timestamp(ticks: server.ticks - commitLag)
            return (commitLag > 0 ? saved : Timestamp(ticks: server.ticks + Self.tolerance), saved)
        }
        // A server that does not say, or know, what time it is: only what is out of all reason here is held back.
        guard let local = page.localDate else { return nil }
        return (Timestamp(ticks: local.ticks + Self.day), Timestamp(ticks: local.ticks - commitLag))
    }
}
