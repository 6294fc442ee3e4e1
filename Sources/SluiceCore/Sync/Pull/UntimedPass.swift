/// The part of a named pull that reads the rows whose time of change is null, by their id.
///
/// Servers give them out first, last, or not at all when asked for a time, so that no time leads to them. It takes rows
/// that a server sends in spite of the condition, too.
struct UntimedPass: Sendable {
    private var lastID: String?
    /// How many rows behind `lastID` have no id to go on from.
    private var skip = 0

    func request(top: Int) -> PullRequest {
        PullRequest(position: .withoutTime(behindID: lastID), skip: skip, top: top)
    }

    /// Goes on behind the page, or says why that is not possible.
    mutating func advance(over page: PullPage) -> SluiceError? {
        guard let last = page.rows.last(where: { !$0.isUnfit }) else {
            skip += page.rows.count
            return nil
        }
        skip = page.rows.reversed().prefix { $0.isUnfit }.count
        if let lastID, ExactText(lastID) == ExactText(last.id) {
            return SluiceError(.brokenProtocol, "the server sends the same rows again: it ignores the filter on id")
        }
        lastID = last.id
        return nil
    }
}

extension Dialect {
    /// Whether the wire's servers may sort null behind all other values: those of Datasync run on any database that
    /// Entity Framework knows, the older ones on SQL Server and SQLite, which put null first.
    var maySortNullLast: Bool { odata == .v4 }
}
