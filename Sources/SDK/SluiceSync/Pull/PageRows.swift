internal import SluiceBase

/// The rows of a page, separated into storable and unfit ones.
struct PageRows {
    /// A row that cannot be stored.
    struct Unfit {
        var index: Int
        var reason: String

        /// Whether the row has an id of its own.
        func hasID(in page: RowPage) -> Bool { page.rows[index].id.text.utf8.first != 0 }
    }

    /// The rows to store, each id once.
    private(set) var fit: [Int] = []
    private(set) var unfit: [Unfit] = []

    /// Sorts the rows of a selection.
    ///
    /// If an id comes twice, the later row counts. If two rows with the same id and version differ, neither is stored,
    /// unless a row of that id with another version follows.
    init(_ page: RowPage, _ rows: [Int]) {
        var last: [RecordID: Int] = [:]
        last.reserveCapacity(rows.count)
        var disputed: Set<RecordID> = []
        for index in rows {
            let row = page.rows[index]
            if row.isUnfit {
                unfit.append(Unfit(index: index, reason: page.problems[index] ?? "the row cannot be read"))
                continue
            }
            let id = row.id
            guard let other = last.updateValue(index, forKey: id) else { continue }
            if page.rows[other].version != row.version {
                disputed.remove(id)
            } else if page.record(at: other) != page.record(at: index) {
                disputed.insert(id)
            }
        }
        if unfit.isEmpty, disputed.isEmpty, last.count == rows.count {
            fit = rows
            return
        }
        for index in rows where !page.rows[index].isUnfit {
            let id = page.rows[index].id
            guard last[id] == index else { continue }
            if disputed.contains(id) {
                unfit.append(Unfit(index: index, reason: "the page has two rows of this id and version that differ"))
            } else {
                fit.append(index)
            }
        }
    }
}

/// Counts the rows that a pull brings again in other versions, to detect when it brings nothing else.
///
/// Some of them were changed by other users. But a server may change a row on every read, for example to note the time,
/// and a pull that followed each change would never end. A table of requests grows by each one: its rows come one by one.
struct RepeatedRows: Sendable {
    /// The largest number of rows remembered; more are not recognised.
    private static let mostKnown = 1_000_000
    /// The number of rows of a small table that may come again.
    private static let leastRepeats = 1000

    /// The hashes of the received ids.
    private var known: Set<UInt64> = []
    private var repeats = 0
    /// The number of consecutive short pages with rows that came after the pull's beginning, and the largest such number.
    private var recentPages = 0
    private static let mostRecentPages = 100
    /// The time of the first page.
    private var began: Timestamp?
    /// The number of new rows on the largest page.
    private var largest = 0

    /// Takes the new rows of a page.
    mutating func take(_ rows: some Sequence<RowPage.Row>) {
        for row in rows {
            let hash = FNV1a.hash(row.id.text.utf8)
            if known.contains(hash) {
                repeats += 1
            } else if known.count < Self.mostKnown {
                known.insert(hash)
            }
        }
    }

    /// Takes the number of new rows of a page, and the newest time among them.
    ///
    /// - Parameter asked: the number of requested rows.
    mutating func take(_ count: Int, until time: Timestamp, on page: PullPage, of asked: Int) {
        largest = max(largest, count)
        // `Date` has whole seconds.
        let now = page.serverDate.map { Timestamp(ticks: $0.ticks + Timestamp.ticksPerSecond) } ?? page.localDate
        began = began ?? now
        // The server may give so few rows at once. Where its clock is not known, they count beside the largest page.
        let whole = page.serverDate == nil ? largest : asked
        let isRecent = began.map { time > $0 } ?? false
        recentPages = isRecent && 2 * count < whole ? recentPages + 1 : 0
    }

    /// Whether rows have come again, or as fast as they are read, so often that further changes are left to the next
    /// pull.
    var isEnough: Bool { repeats > 2 * known.count + Self.leastRepeats || recentPages >= Self.mostRecentPages }
}

/// The rows read so far, each identified by its id and version.
///
/// A server may list one id twice, in two versions. Both are kept, so that neither counts as new when it comes again.
struct RowVersions: Sendable {
    private var versions: [RecordID: [String?]] = [:]

    /// The number of different ids.
    var count: Int { versions.count }

    /// The ids, in the order of their bytes.
    var ids: [RecordID] { versions.keys.sorted() }

    func contains(_ row: RowPage.Row) -> Bool {
        versions[row.id]?.contains { Self.isSame($0, row.version) } ?? false
    }

    func contains(id: RecordID) -> Bool { versions[id] != nil }

    mutating func insert(_ row: RowPage.Row) {
        if !contains(row) { versions[row.id, default: []].append(row.version) }
    }

    private static func isSame(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.hasSameBytes(as: right)
    }
}
