internal import SluiceBase

/// Finds out whether a server sorts rows of one time by id, and compares times and ids as it sorts them.
///
/// Only then can a pull go on after (time, id) and skip nothing. What a page shows by chance proves nothing, so the
/// server is asked for rows that are known, in the opposite order: it has to give back exactly those.
struct TieCheck: Sendable {
    /// How many rows of one time at a page's end are worth the question, and enough of an answer.
    static let leastRows = 4

    let time: String
    /// The ids in the order in which they came.
    private let ids: [RecordID]
    private let last: RecordID

    /// The question that a page raises; nil if its last rows do not share one time, or come in no order.
    init?(_ page: PullPage, pageSize: Int) {
        guard let last = page.rows.last, let time = last.updatedAt, !last.isUnfit else { return nil }
        let tied = page.rows.reversed().prefix { $0.updatedAt == time && !$0.isUnfit }.prefix(min(pageSize, 20))
        let ids = tied.map(\.id)
        guard tied.count >= Self.leastRows, IDOrder.isAscending(ids.reversed()), page.isUniform() else { return nil }
        self.time = time
        self.last = last.id
        self.ids = ids
    }

    var request: PullRequest {
        PullRequest(position: .ties(time: time, id: last), skip: 0, top: ids.count)
    }

    /// Whether the answer proves it.
    func isProven(by page: PullPage) -> Bool { page.rows.map { $0.id } == ids }
}
