package import SluiceBase

/// What the store holds of a query beside what the server has.
package struct RowComparison: Sendable, Hashable {
    /// How many rows the store holds of the query.
    package var compared = 0
    /// Rows that the server has and the store lacks.
    package var missing: [RecordID] = []
    /// Rows with another version here than at the server.
    package var old: [RecordID] = []
    /// Rows that the server does not have, or not in this query.
    package var extra: [RecordID] = []
    /// How many rows differ because their changes have not been sent.
    package var waiting = 0
    /// Whether digests were enough to find the ranges that differ.
    package var usedDigest = false

    package var isEqual: Bool { missing.isEmpty && old.isEmpty && extra.isEmpty }
}
