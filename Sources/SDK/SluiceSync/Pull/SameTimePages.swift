internal import SluiceBase

/// Reads the rows of one time page by page with `$skip`, such that no row slips by.
///
/// A row that moves away in front of the place that is asked for has those after it slide towards the beginning, past
/// that place. So every page but the first is asked for from one row earlier and has to begin with a row that this pass
/// has taken: whatever stands after that one is still to come. If it does not, or what stood after that row is on the page
/// no more, the pass goes back.
///
/// A page of the known row alone is the end, or one of a server that sends one row at a time. So it is asked for rows
/// that are not of the group: none ends it. Else the next row is asked for, and counts once the known one is found in
/// its place again.
struct SameTimePages: Sendable {
    /// What is to be asked for.
    enum Question: Sendable {
        /// A page from that place of the group.
        case page(skip: Int)
        /// Any row of the group's time or a later one that is not known.
        case others
    }

    /// What an answer is.
    enum Answer {
        /// It goes on where this pass is, from that place on.
        case page(PullPage, skip: Int)
        /// It may have missed rows: what is new in it can be stored, and moves nothing.
        case unproven
        /// The unproven page, of that place, has missed none.
        case proven(PullPage, skip: Int)
        /// There is nothing after what was taken; certainly, whatever the server's order.
        case end(isCertain: Bool)
        /// Rows that are not known: those of the group's time are in it, wherever the pass meets them.
        case others(PullPage)
        /// It proves nothing: ask on.
        case nothing
    }

    private enum Step { case along, others, beyond, again(PullPage) }

    /// How many rows of one time can be named in a request. Where their ids are too long for one, it is refused before
    /// it is sent.
    static let mostOthers = 40

    /// How often a page may not begin with a known row, because rows that others change move away.
    private static let mostSlips = 32
    /// How often rows come in another order than they did on the page before, until that is the server's way.
    private static let mostReversals = 2

    private let pageSize: Int
    private var step = Step.along
    /// How many rows this pass has gone past.
    private(set) var place = 0
    private var passed = RowVersions()
    /// The rows of the page that was gone past last, in its order.
    private var trail: [RecordID] = []
    private var isAlone = false
    private var hasAskedForOthers = false
    /// How often a page did not begin with a known row.
    private(set) var slips = 0
    /// How often two rows of a page stood in the opposite order on the one before. Rows that move do not bring that
    /// about.
    private var reversals = 0
    /// The rows of the page before, with their places on it.
    private var before: [RecordID: Int] = [:]
    /// How many pages one after the other brought nothing that this pass had not gone past.
    private var repeats = 0

    init(pageSize: Int) { self.pageSize = pageSize }

    /// Whether rows have come in another order than before, or pages have begun with other rows so often, that the
    /// server has no order in the group.
    var hasNoOrder: Bool { reversals >= Self.mostReversals || slips > Self.mostSlips }

    /// Whether the pass goes past the same rows again and again, though it has gone back no further than that.
    var isStuck: Bool { repeats > 2 + slips * max(2, pageSize) }

    var question: Question {
        switch step {
        case .along, .again: .page(skip: max(0, place - 1))
        case .beyond: .page(skip: place)
        case .others: .others
        }
    }

    /// Whether the rows that are not of the group are asked for.
    var asksForOthers: Bool { if case .others = step { true } else { false } }

    /// Judges the answer to the question.
    mutating func judge(_ page: PullPage) -> Answer {
        lookAtOrder(of: page)
        switch step {
        case .along: return follow(page)
        case .others:
            if page.rows.isEmpty { return .end(isCertain: true) }
            goOn()
            return .others(page)
        case .beyond:
            // Rows that came in front have moved the known ones back: what begins with one of those misses none.
            if let row = page.rows.first, passed.contains(row) { return .page(page, skip: place) }
            step = .again(page)
            return .unproven
        case .again(let unproven):
            guard page.rows.count == 1, let row = page.rows.first, passed.contains(row) else { return follow(page) }
            step = .along
            return unproven.rows.isEmpty ? .end(isCertain: false) : .proven(unproven, skip: place)
        }
    }

    /// A group of one page has no order to speak of.
    private mutating func lookAtOrder(of page: PullPage) {
        guard place > 0 || slips > 0 || !before.isEmpty, !asksForOthers else { return }
        let places = page.rows.compactMap { before[$0.id] }
        if zip(places, places.dropFirst()).contains(where: { $0 > $1 }) { reversals += 1 }
        before = Dictionary(page.rows.indices.map { (page.rows[$0].id, $0) }) { first, _ in first }
    }

    /// Goes on without knowing of other rows.
    mutating func goOn() { step = isAlone ? .beyond : .along }

    private mutating func follow(_ page: PullPage) -> Answer {
        step = .along
        let skip = max(0, place - 1)
        if skip > 0 {
            guard let first = page.rows.first, passed.contains(first), hasWhatFollowed(first.id, page) else {
                slips += 1
                place = max(0, place - max(2, pageSize))
                return .nothing
            }
        }
        if page.rows.isEmpty { return .end(isCertain: skip == 0) }
        return .page(page, skip: skip)
    }

    /// Whether a page that begins with that row, and is not full, has all that stood after it on the page before. Where
    /// it has not, rows were taken away, or they come in another order than before.
    private func hasWhatFollowed(_ row: RecordID, _ page: PullPage) -> Bool {
        guard page.rows.count < pageSize, let place = trail.firstIndex(of: row) else { return true }
        return Set(trail[(place + 1)...]).isSubset(of: page.rows.map(\.id))
    }

    /// Goes past the rows of a page that brought no later time.
    ///
    /// - Parameters:
    ///   - skip: the place from which the page was asked for.
    ///   - known: how many rows of the group are known.
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

    /// Begins once more, with what is known of the server.
    mutating func restart() {
        let (slips, reversals, before) = (slips, reversals, before)
        self = SameTimePages(pageSize: pageSize)
        (self.slips, self.reversals, self.before) = (slips, reversals, before)
    }
}
