internal import SluiceBase

/// Checks whether a server really sorts by time.
///
/// A server that ignores the order may return rows as they were stored, in the order of their times by chance. A
/// request for the opposite order then returns the same order, and reveals it.
package struct SortCheck: Sendable {
    private static let leastPages = 2
    private static let leastRows = 16

    private var pages = 0
    private var rows = 0
    private(set) var isAsking = false
    private var isDone = false

    package init() {}

    package var request: PullRequest { PullRequest(position: .newestFirst, skip: 0, top: Self.leastRows) }

    /// Counts a page and its new rows: a pull of few rows is not worth the check.
    mutating func count(_ fresh: Int) {
        pages += 1
        rows += fresh
    }

    /// Whether to send the check now.
    mutating func begins() -> Bool {
        guard !isDone, pages >= Self.leastPages, rows >= Self.leastRows else { return false }
        isAsking = true
        return true
    }

    /// Whether the answer shows that the server does not sort. Concurrent inserts and deletes do not affect that.
    package mutating func failed(by page: PullPage?) -> Bool {
        isAsking = false
        isDone = true
        let times = (page?.rows ?? []).compactMap { $0.updatedAt.flatMap { Timestamp($0) } }
        return zip(times, times.dropFirst()).contains { $0 < $1 }
    }
}
