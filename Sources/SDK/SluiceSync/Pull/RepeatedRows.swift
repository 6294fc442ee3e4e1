internal import SluiceBase

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
    /// The number of consecutive pages that are over at once with rows of the last moments, and the largest such number.
    private var recentPages = 0
    private static let mostRecentPages = 100

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

    /// Takes the number of new rows of a page.
    ///
    /// - Parameter isRecent: whether its rows are of the last moments, by the server's clock.
    mutating func take(_ count: Int, of asked: Int, isRecent: Bool) {
        recentPages = isRecent && 2 * count < asked ? recentPages + 1 : 0
    }

    /// Whether rows have come again, or as fast as they are read, so often that further changes are left to the next
    /// pull.
    var isEnough: Bool { repeats > 2 * known.count + Self.leastRepeats || recentPages >= Self.mostRecentPages }
}
