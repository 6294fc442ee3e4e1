package import SluiceBase

/// A comparison of a query's rows in the store with the server's.
package struct RowComparison: Sendable, Hashable {
    /// The number of the query's rows in the store.
    package var compared = 0
    /// Rows that the server has and the store lacks.
    package var missing: [RecordID] = []
    /// Rows with another version here than on the server.
    package var old: [RecordID] = []
    /// Rows that are not on the server, or not in this query there.
    package var extra: [RecordID] = []
    /// The number of different rows with unsent changes.
    package var waiting = 0
    /// Whether digests sufficed to find the differing ranges.
    package var usedDigest = false

    package var isEqual: Bool { missing.isEmpty && old.isEmpty && extra.isEmpty }
}
