package import SluiceBase
internal import SluiceWire

/// The position of a pull.
package struct CursorPosition: Sendable, Hashable {
    /// The method by which the server's changes are followed.
    package var grade: PullResult.Grade
    /// The change token; all changes after it are still to come.
    package var token: String?
    /// The `updatedAt` up to which all rows are stored, as the server wrote it; empty where none is known.
    package var updatedAt: String
    /// The id up to which all rows of exactly that time are stored; nil where they have to be read again.
    package var id: RecordID?
    /// Whether rows without a time have been found. If so, a server's refusal to list them is an error.
    var hasUntimed: Bool
    /// The latest observation of the clock that stamps the server's rows; nil where the server sends no `Date`.
    var clock: ServerClock?

    init(
        grade: PullResult.Grade = .timestamps, token: String? = nil, updatedAt: String, id: RecordID? = nil,
        hasUntimed: Bool = false, clock: ServerClock? = nil
    ) {
        self.grade = grade
        self.token = token
        self.updatedAt = updatedAt
        self.id = id
        self.hasUntimed = hasUntimed
        self.clock = clock
    }

    /// Makes a position by token.
    package init(token: String) { self.init(grade: .changeTokens, token: token, updatedAt: "") }

    /// No position: all rows are to be read every time.
    package static let full = CursorPosition(grade: .full, updatedAt: "")
}

extension PullResult {
    /// The method by which a named pull follows the server's changes. The pull detects the server's abilities; every method
    /// skips no row.
    public enum Grade: String, Sendable, Hashable, CaseIterable, Encodable {
        /// By tokens issued by the server in commit order.
        case changeTokens
        /// By time of change and id together.
        case keyset
        /// By time of change alone; rows of one time are read until none is new.
        case timestamps
        /// Not at all: the server does not sort by time of change, so every pull brings all rows of the query.
        case full
    }
}

/// The latest time at which a cursor by time may be saved.
///
/// It stays behind the server's own clock, because a transaction may be committed after one that began later. It never
/// reaches a future time, which would hide all rows up to then. The clock is not read from `Date` alone, which may come
/// from another machine: see ``ServerClock``.
package struct CursorCeiling: Sendable {
    /// The largest clock error before a row's time counts as wrong.
    package static let tolerance = 300 * Timestamp.ticksPerSecond
    private static let day = 86_400 * Timestamp.ticksPerSecond
    /// The time from the beginning of a date in UTC until that date has ended everywhere.
    private static let longestDay = 38 * 3600 * Timestamp.ticksPerSecond
    /// 2010-01-01: an earlier clock is not set, as after a start without a battery or a network. It proves nothing
    /// about rows stamped by another clock.
    private static let earliestClock = Timestamp(ticks: 1_262_304_000 * Timestamp.ticksPerSecond)

    private let commitLag: Int64
    /// The saved time at which this pull continues, and its text from the server.
    private let start: (time: Timestamp, text: String)?
    /// The latest observation of the clock that stamps the rows.
    private(set) var clock: ServerClock?
    /// The time of the latest page's arrival, by the clock of this machine.
    private var latestPage: Timestamp?
    /// The time since this pull's first page was requested, in ticks.
    private var elapsed: Int64 = 0
    /// A lower bound of the server's clock when it made that page.
    private var firstPage: Timestamp?
    /// The earliest time at which a clock has held the cursor back. Rows before it are not read again in this pull, so
    /// a later answer does not move it.
    private var earliest: Timestamp?
    /// The unit in which the server may count the times of its rows, in ticks.
    private var grain: Int64
    /// The latest saved position, and its text. A later one is written in milliseconds, and not before this one.
    private var saved: (time: Timestamp, text: String)?

    /// - Parameters:
    ///   - commitLag: in ticks.
    ///   - start: the saved time at which the pull continues.
    ///   - clock: the earlier pulls' observation of the clock that stamps the rows.
    init(commitLag: Int64, from start: String?, clock: ServerClock? = nil) {
        self.commitLag = commitLag
        self.start = start.flatMap { text in Timestamp(text).map { ($0, text) } }
        self.clock = clock
        grain = self.start.map { Self.grain(of: $0.time) } ?? Self.day
    }

    /// Returns the clock to which the pull has to go back because the server's clock was set since the last one; nil if
    /// it was not.
    ///
    /// Rows written since then may have times that were already pulled. The clock was set if `Date` lies before the
    /// saved time, because that never passes the server's clock. It was also set if it has advanced by another amount
    /// than the device's. Going back does not prove that nothing is missing: a reconcile has to follow.
    func rewound(at page: PullPage) -> ServerClock? {
        guard let start, let date = page.serverDate else { return nil }
        let isBefore = date.ticks < start.time.ticks - (commitLag > 0 ? 0 : Self.tolerance)
        guard isBefore || wasSet(before: page) else { return nil }
        let step = clock?.step(to: page) ?? 0
        // The earliest possible time of a row written since the last pull.
        var earliest = min(start.time, date)
        if let clock, let least = clock.least(at: page) {
            earliest = min(earliest, least, Timestamp(ticks: clock.row.ticks + min(0, step)))
        }
        return ServerClock(row: earliest, at: page)
    }

    /// Whether the server's clock has advanced by another amount than the device's since the known page.
    private func wasSet(before page: PullPage) -> Bool {
        (clock?.step(to: page) ?? 0).magnitude > UInt64(commitLag > 0 ? commitLag : Self.tolerance)
    }

    /// Returns the time to save for a page whose latest row has the time `row`.
    ///
    /// - Returns: the text, and whether the server writes no further row of that time.
    mutating func limit(_ row: (time: Timestamp, text: String), at page: PullPage) -> (text: String, isPast: Bool) {
        let time = row.time
        let latest = latest(at: page, of: time)
        if let latest, time > latest.trusted {
            earliest = min(earliest ?? latest.saved, latest.saved)
        }
        let bound = [earliest, after(time, at: page)].compactMap(\.self).min()
        grain = min(grain, Self.grain(of: time))
        let limit = bound.flatMap { $0 < time ? written(floored($0)) : nil }
        saved = limit ?? row
        let isOver = bound.map { time.ticks + grain <= $0.ticks } ?? true
        let isLongAgo = latest.map { time.ticks + Self.longestDay <= $0.saved.ticks } ?? true
        return (saved?.text ?? row.text, limit == nil && (isOver || isLongAgo))
    }

    /// Returns the coarsest unit in which a server that writes that time may count: days (which begin at any quarter of an
    /// hour of UTC), ten minutes, minutes or seconds.
    private static func grain(of time: Timestamp) -> Int64 {
        let second = Timestamp.ticksPerSecond
        let units: [(Int64, Int64)] = [
            (900, day), (300, 600 * second), (60, 60 * second), (10, 10 * second), (1, second),
        ]
        return units.first { time.ticks % ($0.0 * second) == 0 }?.1 ?? 0
    }

    /// Returns the earliest time that a row stamped then may have, but none before what was saved.
    private func floored(_ time: Timestamp) -> Timestamp {
        guard grain > 0 else { return time }
        let earlier = time.ticks - grain
        let floor = Timestamp(ticks: earlier - (earlier % grain + grain) % grain)
        return [start, saved].compactMap(\.self).reduce(floor) { max($0, min($1.time, time)) }
    }

    /// Returns the time in milliseconds, or the latest position that a pull has saved if that lies between the two.
    private func written(_ time: Timestamp) -> (time: Timestamp, text: String) {
        let text = time.text(fractionDigits: 3)
        let rounded = Timestamp(text) ?? time
        let known = [start, saved].compactMap(\.self).filter { (rounded...time).contains($0.time) }
        return known.max { $0.time < $1.time } ?? (rounded, text)
    }

    /// Returns a time that is safe to save even if `Date` runs ahead of the clock that stamps the rows.
    ///
    /// When a page was made, that clock showed at least the time of the newest row. When this pull's first page was
    /// made, it showed at most as much less as the time since its request, and no less than in earlier pulls. Rows
    /// committed later were stamped at most `commitLag` before that, or lie before the pull's start.
    private mutating func after(_ time: Timestamp, at page: PullPage) -> Timestamp? {
        let local = page.localDate ?? time
        // A clock set back in between does not reduce it.
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

    /// Keeps the page if it gives a better bound for the clock that stamps the rows. If that clock was set during the
    /// pull, the older observation stays: from it the next pull detects the change, and goes back.
    private mutating func learn(_ time: Timestamp, at page: PullPage) {
        if wasSet(before: page) { return }
        guard let latest = ServerClock(row: time, at: page) else { return }
        if let known = clock?.least(at: page), known >= latest.row { return }
        clock = latest
    }

    /// Returns the server's time, if its clock is usable.
    private func clock(of page: PullPage, for time: Timestamp) -> Timestamp? {
        guard let server = page.serverDate, server > Self.earliestClock || time.ticks <= server.ticks + Self.tolerance
        else { return nil }
        return server
    }

    /// Returns the latest time that is saved unchanged, and the one saved for any later time.
    private func latest(at page: PullPage, of time: Timestamp) -> (trusted: Timestamp, saved: Timestamp)? {
        if let server = clock(of: page, for: time) {
            let saved = Timestamp(ticks: server.ticks - commitLag)
            return (commitLag > 0 ? saved : Timestamp(ticks: server.ticks + Self.tolerance), saved)
        }
        // A server without a usable `Date`: only times more than a day ahead of the local clock are held back.
        guard let local = page.localDate else { return nil }
        return (Timestamp(ticks: local.ticks + Self.day), Timestamp(ticks: local.ticks - commitLag))
    }
}
