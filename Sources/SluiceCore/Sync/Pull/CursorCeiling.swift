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
    /// The saved time from which this pull goes on, and how the server wrote it.
    private let start: (time: Timestamp, text: String)?
    /// When the latest page was here, by the clock of this machine.
    private var latestPage: Timestamp?
    /// How much time has passed since this pull's first page was asked for, in ticks.
    private var elapsed: Int64 = 0
    /// What the server's clock showed when it made that page, at the least.
    private var firstPage: Timestamp?
    /// Whether a page came without a clock to go by: then those after it are no surer.
    private var isWithoutClock = false
    /// The earliest time at which a clock has held the cursor back. What came before it is not read again in this pull,
    /// so a later answer does not move it.
    private var earliest: Timestamp?

    /// - Parameters:
    ///   - commitLag: in ticks.
    ///   - start: the saved time from which the pull goes on.
    init(commitLag: Int64, from start: String?) {
        self.commitLag = commitLag
        self.start = start.flatMap { text in Timestamp(text).map { ($0, text) } }
    }

    /// The time to save in the place of `time`, or nil if that may be saved as it is.
    mutating func limit(_ time: Timestamp, at page: PullPage) -> String? {
        if planted(.commitLagIgnored) { return nil }
        if let latest = latest(at: page, of: time), time > latest.trusted {
            earliest = min(earliest ?? latest.saved, latest.saved)
        }
        let saved = [earliest, behind(time, at: page)].compactMap(\.self).min()
        guard let saved, saved < time else { return nil }
        if let start, start.time == saved { return start.text }
        return saved.text(fractionDigits: 3)
    }

    /// The time to save where the server does not say what time it is.
    ///
    /// When a page was made, the server's clock showed the time of its newest row or more; when this pull's first page
    /// was made, as much less as has passed since that was asked for, at the most. What was committed after that was
    /// stamped `commitLag` before it at the most, or lies behind where the pull began.
    private mutating func behind(_ time: Timestamp, at page: PullPage) -> Timestamp? {
        let local = page.localDate ?? time
        // A clock that is set back meanwhile makes it no less.
        elapsed += max(0, local.ticks - (latestPage ?? page.askedDate ?? local).ticks)
        latestPage = local
        let first = Timestamp(ticks: time.ticks - elapsed)
        firstPage = max(firstPage ?? first, first)
        if clock(of: page, for: time) == nil { isWithoutClock = true }
        guard commitLag > 0, !planted(.unknownClockTrusted), isWithoutClock, let firstPage else { return nil }
        let saved = Timestamp(ticks: firstPage.ticks - commitLag)
        return start.map { max($0.time, saved) } ?? saved
    }

    /// The server's time, if its clock is one to go by.
    private func clock(of page: PullPage, for time: Timestamp) -> Timestamp? {
        guard let server = page.serverDate, server > Self.earliestClock || time.ticks <= server.ticks + Self.tolerance
        else { return nil }
        return server
    }

    /// The latest time that is taken as it is, and the one that is saved for any later.
    private func latest(at page: PullPage, of time: Timestamp) -> (trusted: Timestamp, saved: Timestamp)? {
        if let server = clock(of: page, for: time) {
            let saved = Timestamp(ticks: server.ticks - commitLag)
            return (commitLag > 0 ? saved : Timestamp(ticks: server.ticks + Self.tolerance), saved)
        }
        // A server that does not say, or know, what time it is: only what is out of all reason here is held back.
        guard let local = page.localDate else { return nil }
        return (Timestamp(ticks: local.ticks + Self.day), Timestamp(ticks: local.ticks - commitLag))
    }
}
