package import SluiceBase
internal import SluiceWire

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

extension SyncContext {
    /// Compares the store's rows of a query with the server's, by digests of ranges of ids where the server has them, else
    /// by a list of all ids and versions. Nothing is changed.
    ///
    /// - Throws: ``SluiceError``: what a request or the store throws; `limitReached` for a server without end.
    package func comparison(of query: Query) async throws -> RowComparison {
        let client = try requireClient()
        let version = client.dialect.columns.version
        var local = Query(query.table, filter: query.filter)
        local.select = ["id", version]
        let (rows, pending) = try await shared.read { [local] reader in
            let rows = try reader.records(matching: local).compactMap { record in
                record["id"]?.textID.map { ($0, record[version]?.string) }
            }
            return (rows, try QueueReader(reader).recordIDs(in: local.table))
        }
        let held = LocalQueryRows(Dictionary(rows) { $1 })
        let requests = PullRequests(
            dialect: client.dialect, endpoint: client.endpoint, query: query, isNamed: false)
        var reader = DifferenceReader(
            exchange: RowExchange(client: client, store: store, options: options, requests: requests), query: query,
            sorts: nil)
        let difference = try await reader.difference(held, pending: pending)
        return RowComparison(
            compared: held.ids.count, missing: difference.wanted.filter { held.versions[$0] == nil },
            old: difference.wanted.filter { held.versions[$0] != nil }, extra: difference.missing,
            waiting: difference.pending, usedDigest: difference.usedDigest)
    }
}
