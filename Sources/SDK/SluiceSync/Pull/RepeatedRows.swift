internal import SluiceBase

/// Counts the rows that a pull brings again in other versions, to detect when it brings nothing else.
///
/// Some of them were changed by other users. But a server may change a row on every read, for example to note the time,
/// and a pull that followed each change would never end.
struct RepeatedRows: Sendable {
    /// The largest number of rows remembered; more are not recognised.
    private static let mostKnown = 1_000_000
    /// The number of rows of a small table that may come again.
    private static let leastRepeats = 1000

    /// The hashes of the received ids.
    private var known: Set<UInt64> = []
    private var repeats = 0

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

    /// Whether rows have come again so often that further changes are left to the next pull.
    var isEnough: Bool { repeats > 2 * known.count + Self.leastRepeats }
}
