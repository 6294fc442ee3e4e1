internal import SluiceBase

/// Checks whether a server sorts rows of one time by id, and compares times and ids in the same order.
///
/// Only then can a pull continue after (time, id) without missing rows. A page may be sorted by chance, so known rows
/// are requested in the opposite order: the server has to return exactly these.
package struct TieCheck: Sendable {
    /// The number of rows of one time at a page's end that makes the check worthwhile and conclusive.
    static let leastRows = 4

    package let time: String
    /// The expected ids, last one first.
    private let ids: [RecordID]
    private let last: RecordID

    /// Makes the check for a page; nil if its last rows do not share one time, or are not sorted.
    package init?(_ page: PullPage, pageSize: Int) {
        guard let last = page.rows.last, let time = last.updatedAt, !last.isUnfit else { return nil }
        let tied = page.rows.reversed().prefix { $0.updatedAt == time && !$0.isUnfit }.prefix(min(pageSize, 20))
        let ids = tied.map(\.id)
        guard tied.count >= Self.leastRows, IDOrder.isAscending(ids.reversed()), page.isUniform() else { return nil }
        self.time = time
        self.last = last.id
        self.ids = ids
    }

    package var request: PullRequest {
        PullRequest(position: .ties(time: time, id: last), skip: 0, top: ids.count)
    }

    /// Whether the answer proves the order.
    package func isProven(by page: PullPage) -> Bool { page.rows.map { $0.id } == ids }
}
