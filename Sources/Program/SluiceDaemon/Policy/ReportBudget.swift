internal import Sluice

/// The bytes of the rows that a device has reported on a day. Beyond a limit only short rows go. The count outlasts the
/// process, so that a daemon that starts again and again keeps to it.
struct ReportBudget: Sendable {
    private let limit: Int?
    private let path: String
    /// The day's number, in UTC.
    private var day: Int64 = 0
    private var bytes = 0

    /// Reads the count of an earlier process.
    ///
    /// - Parameter limit: the bytes of a day; nil for no limit, and then no count is kept.
    init(_ limit: Int?, file path: String) {
        (self.limit, self.path) = (limit, path)
        guard limit != nil, let found = try? OpenFile(path, .filesOnly).read(upTo: 4_096),
            let json = try? JSON(parsing: found)
        else { return }
        day = json["day"]?.int ?? 0
        bytes = max(0, json["bytes"]?.int.flatMap { Int(exactly: $0) } ?? 0)
    }

    /// Whether a row is still inside of the limit.
    func admits(_ row: JSON, at now: Timestamp) -> Bool {
        guard let limit else { return true }
        let spent = day == Self.day(of: now) ? bytes : 0
        return row.bytes().count <= limit - min(spent, limit)
    }

    /// Counts a row that was written.
    mutating func note(_ row: JSON, at now: Timestamp) {
        guard limit != nil else { return }
        let today = Self.day(of: now)
        if day != today { (day, bytes) = (today, 0) }
        bytes = min(bytes, Int.max / 2) + row.bytes().count
        save()
    }

    /// Saves the count. If that fails, a restart counts from zero, and the bytes of one more day are spent at most.
    private func save() {
        let json: JSON = ["day": JSON(day), "bytes": JSON(bytes)]
        try? FileDraft.replace(path, with: json.bytes())
    }

    private static func day(of time: Timestamp) -> Int64 { time.ticks / Timestamp.ticksPerSecond / 86_400 }
}
