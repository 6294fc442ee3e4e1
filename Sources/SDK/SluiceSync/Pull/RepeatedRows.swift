internal import SluiceBase

/// Counts the rows that a pull brings once more, in other versions, to find out when it does nothing else.
///
/// Rows that others change meanwhile are some of them. But a server may change a row whenever it reads it, such as to note
/// when that was, and a pull that followed each change would never end.
struct RepeatedRows: Sendable {
    /// Of more rows than this the others are not known again.
    private static let mostKnown = 1_000_000
    /// The number of rows that may come again of a small table.
    private static let leastRepeats = 1000

    /// The ids of the rows that came, as hashes.
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

    /// Whether all rows have come again, and again: what changes from now on is left to the next pull.
    var isEnough: Bool { repeats > 2 * known.count + Self.leastRepeats }
}
