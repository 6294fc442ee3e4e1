internal import SluiceBase

/// How far a cursor by time may be saved.
///
/// It stays behind the server's own clock, because a transaction may be committed after one that began later; and never
/// gets to a time that lies in the future, which would hide all rows up to then. What that clock shows is not taken
/// from `Date` alone, which may be that of another machine: see ``ServerClock``.
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
    /// What is known of the clock that stamps the rows.
    private(set) var clock: ServerClock?
    /// When the latest page was here, by the clock of this machine.
    private var latestPage: Timestamp?
    /// How much time has passed since this pull's first page was asked for, in ticks.
    private var elapsed: Int64 = 0
    /// What the server's clock showed when it made that page, at the least.
    private var firstPage: Timestamp?
    /// The earliest time at which a clock has held the cursor back. What came before it is not read again in this pull,
    /// so a later answer does not move it.
    private var earliest: Timestamp?

    /// - Parameters:
    ///   - commitLag: in ticks.
    ///   - start: the saved time from which the pull goes on.
    ///   - clock: what earlier pulls have learnt of the clock that stamps the rows.
    init(commitLag: Int64, from start: String?, clock: ServerClock? = nil) {
        self.commitLag = commitLag
        self.start = start.flatMap { text in Timestamp(text).map { ($0, text) } }
        self.clock = clock
    }

    /// How far the pull has to go back because the server's clock was set since the last one; nil where it was not.
    ///
    /// Rows that were written since then may bear times that are pulled already. The clock was set if `Date` lies
    /// before the saved time, which never gets past the server's clock, or if it has gone on by another amount than the
    /// device's. Going back is no proof that nothing is missing: a reconcile has to follow.
    func rewound(at page: PullPage) -> ServerClock? {
        guard let start, let date = page.serverDate else { return nil }
        let isBefore = date.ticks < start.time.ticks - (commitLag > 0 ? 0 : Self.tolerance)
        guard isBefore || wasSet(before: page) else { return nil }
        let step = clock?.step(to: page) ?? 0
        // The earliest time that a row may bear which was written since the last pull.
        var earliest = min(start.time, date)
        if let clock, let least = clock.least(at: page) {
            earliest = min(earliest, least, Timestamp(ticks: clock.row.ticks + min(0, step)))
        }
        return ServerClock(row: earliest, at: page)
    }

    /// Whether the server's clock has gone on by another amount than the device's since the page that is known.
    private func wasSet(before page: PullPage) -> Bool {
        (clock?.step(to: page) ?? 0).magnitude > UInt64(commitLag > 0 ? commitLag : Self.tolerance)
    }

    /// The time to save in the place of `time`, or nil if that may be saved as it is.
    mutating func limit(_ time: Timestamp, at page: PullPage) -> String? {
        if let latest = latest(at: page, of: time), time > latest.trusted {
            earliest = min(earliest ?? latest.saved, latest.saved)
        }
        let saved = [earliest, after(time, at: page)].compactMap(\.self).min()
        guard let saved, saved < time else { return nil }
        if let start, start.time == saved { return start.text }
        return saved.text(fractionDigits: 3)
    }

    /// A time that is safe to save even if `Date` runs ahead of the clock that stamps the rows.
    ///
    /// When a page was made, that clock showed the time of the newest row or more; when this pull's first page was
    /// made, as much less as has passed since that was asked for, at the most, and no less than earlier pulls have
    /// shown. What was committed after that was stamped `commitLag` before it at the most, or lies before where the
    /// pull began.
    private mutating func after(_ time: Timestamp, at page: PullPage) -> Timestamp? {
        let local = page.localDate ?? time
        // A clock that is set back meanwhile makes it no less.
        elapsed += max(0, local.ticks - (latestPage ?? page.askedDate ?? local).ticks)
        let known = latestPage == nil ? clock?.least(at: page) : nil
        latestPage = local
        let first = [firstPage, known, Timestamp(ticks: time.ticks - elapsed)].compactMap(\.self).max() ?? time
        firstPage = first
        learn(time, at: page)
        guard commitLag > 0 else { return nil }
        let saved = Timestamp(ticks: first.ticks - commitLag)
        return start.map { max($0.time, saved) } ?? saved
    }

    /// Keeps the page if it shows more of the clock that stamps the rows than what is known of it. Where that was set
    /// in the middle of a pull, what was known stays: by that the next pull sees it, and goes back.
    private mutating func learn(_ time: Timestamp, at page: PullPage) {
        if wasSet(before: page) { return }
        guard let latest = ServerClock(row: time, at: page) else { return }
        if let known = clock?.least(at: page), known >= latest.row { return }
        clock = latest
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
        // A server without a usable `Date`: only times that are out of all reason here are held back.
        guard let local = page.localDate else { return nil }
        return (Timestamp(ticks: local.ticks + Self.day), Timestamp(ticks: local.ticks - commitLag))
    }
}
