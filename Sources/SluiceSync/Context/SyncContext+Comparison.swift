package import SluiceBase
internal import SluiceWire

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
