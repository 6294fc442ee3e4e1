internal import SluiceCore

/// What a read has to see at least, where it may be answered from a copy of the database that is behind.
struct ReadFloor: Sendable {
    /// What the client is known to have seen: a point of the database's history, or a change of a table. Where it is
    /// neither, the client may have seen anything, and the read has to see all that is committed.
    var point: HistoryPoint?
    var change: (table: String, time: Timestamp)?

    /// Whether all reads of a task have to see all that is committed.
    @TaskLocal static var isLatest = false

    var isLatest: Bool { Self.isLatest || (point == nil && change == nil) }

    /// What a list has to see: a client that reads by time has seen the time after which it asks.
    init(_ query: Query, _ page: Query) {
        if query.skip == 0 { change = Self.start(page.filter).map { (query.table, $0) } }
    }

    /// What a page of changes has to see: the point of the token that it goes on from, and the change it begins after.
    init(point: HistoryPoint? = nil, change: (table: String, time: Timestamp)? = nil) {
        self.point = point
        self.change = change
    }

    /// All that is committed.
    static let latest = ReadFloor()

    /// The latest of the times after which the outermost `and` asks.
    private static func start(_ filter: QueryExpression?) -> Timestamp? {
        switch filter {
        case .binary(.and, let left, let right)?: return [start(left), start(right)].compactMap { $0 }.max()
        case .binary(.gt, .column(SystemColumn.updatedAt), .literal(.date(let time)))?,
            .binary(.ge, .column(SystemColumn.updatedAt), .literal(.date(let time)))?:
            return time
        default: return nil
        }
    }
}
