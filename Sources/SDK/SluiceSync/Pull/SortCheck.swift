internal import SluiceBase

/// Finds out whether a server that seems to sort by time does.
///
/// One that does not look at the order may give out rows as they were stored, and those of a page may stand in the
/// order of their times by chance. Asked for the opposite order it gives the same rows, and so shows itself.
struct SortCheck: Sendable {
    private static let leastPages = 2
    private static let leastRows = 16

    private var pages = 0
    private var rows = 0
    private(set) var isAsking = false
    private var isDone = false

    var request: PullRequest { PullRequest(position: .newestFirst, skip: 0, top: Self.leastRows) }

    /// Counts what a page brought: a pull of few rows is not worth the question.
    mutating func count(_ fresh: Int) {
        pages += 1
        rows += fresh
    }

    /// Whether the question is to be asked now.
    mutating func begins() -> Bool {
        guard !isDone, pages >= Self.leastPages, rows >= Self.leastRows else { return false }
        isAsking = true
        return true
    }

    /// Whether the answer shows that the server does not sort. Rows that come or go meanwhile do not.
    mutating func failed(by page: PullPage?) -> Bool {
        isAsking = false
        isDone = true
        let times = (page?.rows ?? []).compactMap { $0.updatedAt.flatMap { Timestamp($0) } }
        return zip(times, times.dropFirst()).contains { $0 < $1 }
    }
}
