internal import SluiceBase

/// Reads the rows of one time page by page with `$skip`, without missing a row.
///
/// If a row before the requested place moves away, later rows slide towards the beginning, past that place. So every
/// page except the first is requested from one row earlier, and has to begin with a row of this pass: all rows after it
/// are still to come. If it does not, or if rows that stood after that row are missing from the page, the pass goes
/// back.
///
/// A page with only the known row is the end, or comes from a server that sends one row at a time. So rows outside the
/// known ones are requested: none means the end. Otherwise the next row is requested, and counts once the known one is
/// found in its place again.
struct SameTimePages: Sendable {
    /// The next request.
    enum Question: Sendable {
        /// A page from that place of the group.
        case page(skip: Int)
        /// Any row of the group's time or a later one that is not known.
        case others
    }

    /// The meaning of an answer.
    enum Answer {
        /// It continues this pass, from that place.
        case page(PullPage, skip: Int)
        /// It may have missed rows: new ones can be stored, but the position stays.
        case unproven
        /// The unproven page, from that place, has missed none.
        case proven(PullPage, skip: Int)
        /// There are no rows after the ones taken; `isCertain` means for any order of the server.
        case end(isCertain: Bool)
        /// Unknown rows: those with the group's time belong to the group, wherever the pass meets them.
        case others(PullPage)
        /// It proves nothing: request again.
        case nothing
    }

    private enum Step { case along, others, beyond, again(PullPage) }

    /// The largest number of rows of one time to name in a request. If their ids are too long, it is refused before
    /// sending.
    static let mostOthers = 40

    /// The number of pages allowed without a known first row, since rows changed by other users move away.
    private static let mostSlips = 32
    /// The number of pages in a changed order until the server counts as having no order.
    private static let mostReversals = 2

    private let pageSize: Int
    private var step = Step.along
    /// The number of rows passed in this pass.
    private(set) var place = 0
    private var passed = RowVersions()
    /// The rows of the page passed last, in its order.
    private var trail: [RecordID] = []
    private var isAlone = false
    private var hasAskedForOthers = false
    /// The number of pages that did not begin with a known row.
    private(set) var slips = 0
    /// The number of pages with two rows in the opposite order of the page before. Moving rows do not cause that.
    private var reversals = 0
    /// The rows of the page before, with their places on it.
    private var before: [RecordID: Int] = [:]
    /// The number of consecutive pages with only rows already passed.
    private var repeats = 0

    init(pageSize: Int) { self.pageSize = pageSize }

    /// Whether the server has no order in the group, judged by reversed rows and by pages with unknown first rows.
    var hasNoOrder: Bool { reversals >= Self.mostReversals || slips > Self.mostSlips }

    /// Whether the pass repeats the same rows more often than its steps back explain.
    var isStuck: Bool { repeats > 2 + slips * max(2, pageSize) }

    var question: Question {
        switch step {
        case .along, .again: .page(skip: max(0, place - 1))
        case .beyond: .page(skip: place)
        case .others: .others
        }
    }

    /// Whether the rows outside the known ones are requested.
    var asksForOthers: Bool { if case .others = step { true } else { false } }

    /// Judges the answer to the request.
    mutating func judge(_ page: PullPage) -> Answer {
        lookAtOrder(of: page)
        switch step {
        case .along: return follow(page)
        case .others:
            if page.rows.isEmpty { return .end(isCertain: true) }
            goOn()
            return .others(page)
        case .beyond:
            // Inserted rows have moved the known ones back: a page that begins with a known row misses none.
            if let row = page.rows.first, passed.contains(row) { return .page(page, skip: place) }
            step = .again(page)
            return .unproven
        case .again(let unproven):
            guard page.rows.count == 1, let row = page.rows.first, passed.contains(row) else { return follow(page) }
            step = .along
            return unproven.rows.isEmpty ? .end(isCertain: false) : .proven(unproven, skip: place)
        }
    }

    /// Compares the order of the page with the one before. A group of one page has no order to compare.
    private mutating func lookAtOrder(of page: PullPage) {
        guard place > 0 || slips > 0 || !before.isEmpty, !asksForOthers else { return }
        let places = page.rows.compactMap { before[$0.id] }
        if zip(places, places.dropFirst()).contains(where: { $0 > $1 }) { reversals += 1 }
        before = Dictionary(page.rows.indices.map { (page.rows[$0].id, $0) }) { first, _ in first }
    }

    /// Continues without the answer about other rows.
    mutating func goOn() { step = isAlone ? .beyond : .along }

    private mutating func follow(_ page: PullPage) -> Answer {
        step = .along
        let skip = max(0, place - 1)
        if skip > 0 {
            guard let first = page.rows.first, passed.contains(first), hasWhatFollowed(first, page) else {
                slips += 1
                place = max(0, place - max(2, pageSize))
                return .nothing
            }
        }
        if page.rows.isEmpty { return .end(isCertain: skip == 0) }
        return .page(page, skip: skip)
    }

    /// Whether a page that begins with that row, and on which the group ends, has all rows that followed it on the page
    /// before. If not, rows have left the group, or come in another order than before.
    private func hasWhatFollowed(_ row: RowPage.Row, _ page: PullPage) -> Bool {
        let ofGroup = page.rows.filter { $0.updatedAt == row.updatedAt }
        let isEnd = page.rows.count < pageSize || ofGroup.count < page.rows.count
        guard isEnd, let place = trail.firstIndex(of: row.id) else { return true }
        return Set(trail[(place + 1)...]).isSubset(of: ofGroup.map(\.id))
    }

    /// Passes the rows of a page without a later time.
    ///
    /// - Parameters:
    ///   - skip: the place at which the page begins.
    ///   - known: the number of known rows of the group.
    mutating func pass(_ page: PullPage, skip: Int, known: Int) {
        if skip == 0 { passed = RowVersions() }
        repeats = page.rows.allSatisfy(passed.contains) ? repeats + 1 : 0
        for row in page.rows { passed.insert(row) }
        trail = page.rows.map(\.id)
        place = skip + page.rows.count
        isAlone = page.rows.count == 1
        step = .along
        if known <= Self.mostOthers, !hasAskedForOthers, page.rows.count < pageSize {
            hasAskedForOthers = true
            step = .others
        } else if isAlone {
            step = .beyond
        }
    }

    /// Restarts the pass, and keeps the observations of the server's order.
    mutating func restart() {
        let (slips, reversals, before) = (slips, reversals, before)
        self = SameTimePages(pageSize: pageSize)
        (self.slips, self.reversals, self.before) = (slips, reversals, before)
    }
}
