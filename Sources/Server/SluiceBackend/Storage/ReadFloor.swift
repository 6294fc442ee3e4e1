internal import SluiceCore

/// The oldest state that may answer a read, for reads from a replica that lags behind.
struct ReadFloor: Sendable {
    /// The state known to the client: a point of the database's history, or a change of a table. Without either, the
    /// client may have seen any state, so the read needs the latest one.
    var point: HistoryPoint?
    var change: (table: String, time: Timestamp)?

    /// Whether all reads of a task need the latest state.
    @TaskLocal static var isLatest = false

    var isLatest: Bool { Self.isLatest || (point == nil && change == nil) }

    /// Creates the floor of a list: a client that reads by time has seen the changes up to its condition's time.
    init(_ query: TableQuery, _ page: TableQuery) {
        if query.skip == 0 { change = Self.start(page.filter).map { (query.table, $0) } }
    }

    /// Creates the floor of a page of changes from its token's point, and the change before its first.
    init(point: HistoryPoint? = nil, change: (table: String, time: Timestamp)? = nil) {
        self.point = point
        self.change = change
    }

    /// The latest state.
    static let latest = ReadFloor()

    /// Returns the latest lower bound of the time in the outermost `and`.
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
