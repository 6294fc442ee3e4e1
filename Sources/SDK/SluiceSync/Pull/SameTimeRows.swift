internal import SluiceBase

/// The rows with the latest time that a pull has reached: they may come again, and are recognised by id and version.
struct SameTimeRows: Sendable {
    /// The time, as the server wrote it; nil before any is known.
    private(set) var time: String?
    private(set) var timestamp: Timestamp?
    /// The id of the last of these rows, in the server's order; nil if unknown.
    private(set) var lastID: RecordID?
    private var rows = RowVersions()

    init() {}

    /// Restores the position of a cursor.
    init(time: String, lastID: RecordID?) {
        self.time = time
        self.lastID = lastID
        timestamp = Timestamp(time)
    }

    var count: Int { rows.count }

    /// The ids of its rows, in the order of their bytes.
    var ids: [RecordID] { rows.ids }

    /// Whether the row was taken already, with that version.
    func holds(_ row: RowPage.Row) -> Bool { rows.contains(row) }

    /// The id of a row taken with the group's time, the last one if known.
    var someID: RecordID? {
        if time == nil || rows.count == 0 { return nil }
        return lastID ?? rows.ids.last { $0.text.utf8.first != 0 }
    }

    /// Whether a page shows one of its rows, in whatever version.
    func isShown(by page: PullPage) -> Bool { page.rows.contains { rows.contains(id: $0.id) } }

    /// Whether one of the times is after the group's.
    func isAfter(_ times: [Timestamp?]) -> Bool {
        rowsBeforeLater(times) < times.count
    }

    /// Returns the number of times before the first one after the group's.
    func rowsBeforeLater(_ times: [Timestamp?]) -> Int {
        times.firstIndex { time in time.map { time in timestamp.map { time > $0 } ?? true } ?? false } ?? times.count
    }

    /// Whether the times ascend, beginning at the group's time or later. Rows without a time may stand anywhere.
    func isFollowedInOrder(by times: [Timestamp?]) -> Bool {
        var latest = timestamp
        for case let time? in times {
            if let latest, time < latest { return false }
            latest = time
        }
        return true
    }

    /// Adds all rows of a page without a later time.
    mutating func add(_ page: PullPage) {
        for row in page.rows { rows.insert(row) }
        if let last = page.rows.last, !last.isUnfit, last.updatedAt == time { lastID = last.id }
    }

    /// Adds the rows with the group's time.
    mutating func add(_ page: PullPage, _ times: [Timestamp?]) {
        for index in times.indices where times[index] == timestamp {
            rows.insert(page.rows[index])
        }
    }

    /// Adds the rows with unreadable times, wherever the server puts them.
    mutating func add(untimedOf page: PullPage, _ times: [Timestamp?]) {
        for index in times.indices where times[index] == nil { rows.insert(page.rows[index]) }
    }

    /// Moves on to the latest time of the page.
    mutating func advance(over page: PullPage, _ times: [Timestamp?]) {
        guard let last = times.indices.last(where: { times[$0] != nil }), let latest = times[last] else {
            return add(page)
        }
        if timestamp.map({ latest > $0 }) ?? true {
            time = page.rows[last].updatedAt
            timestamp = latest
            rows = RowVersions()
        }
        lastID = page.rows[last].isUnfit ? nil : page.rows[last].id
        add(page, times)
    }
}
