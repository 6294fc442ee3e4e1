internal import HTTPTypes
package import Sluice

/// Compares what the store holds of a query with what the server has, by digests of ranges of ids, and changes nothing.
///
/// Where the server offers no digests, all ids and versions are listed. Rows whose changes wait in the queue are
/// expected to differ and are counted apart.
package struct StoreComparison: Sendable {
    /// What the comparison found.
    package struct Result: Sendable, Hashable {
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

    /// Ranges with more rows than this are taken apart further, if the server gives ranges of a range.
    private static let leastRange = 500
    private static let mostDepth = 16
    /// A server could give ranges without end.
    private static let mostAnswers = 10_000

    private let client: SluiceClient
    private let store: any LocalStore
    private var versions: [RecordID: String?] = [:]
    private var ids: [RecordID] = []
    private var waiting: Set<RecordID> = []
    private var result = Result()
    private var answers = 0

    private init(_ client: SluiceClient, _ store: any LocalStore) { (self.client, self.store) = (client, store) }

    /// Compares the rows of a query.
    ///
    /// - Throws: ``SluiceError``: what a request or the store throws; `limitReached` for a server without end.
    package static func result(
        of query: Query, _ client: SluiceClient, _ store: any LocalStore
    ) async throws -> Result {
        var comparison = StoreComparison(client, store)
        try await comparison.read(query)
        try await comparison.compare(query, nil, 0)
        return comparison.result
    }

    private mutating func read(_ query: Query) async throws {
        let version = client.dialect.columns.version
        var local = Query(query.table, filter: query.filter)
        local.select = ["id", version]
        let (rows, queued) = try await store.read { [local] reader in
            let rows = try reader.records(matching: local).compactMap { record in
                record["id"]?.textID.map { (id: $0, version: record[version]?.string) }
            }
            let queued = try QueueReader(reader).all(QueueFilter(table: local.table)).map(\.recordID)
            return (rows, queued)
        }
        waiting = Set(queued)
        for row in rows { versions[row.id] = .some(row.version) }
        ids = versions.keys.sorted()
        result.compared = ids.count
    }

    private mutating func compare(_ query: Query, _ range: TableDigest.Range?, _ depth: Int) async throws {
        let here = held(in: range)
        guard let digest = try await digest(query, range) else { return try await list(query, range, here) }
        if range == nil { result.usedDigest = true }
        if digest.sum == sum(of: here) { return }
        guard range == nil || digest.ranges.count > 1 else { return try await list(query, range, here) }
        var outside = Set(here)
        for part in digest.ranges {
            let rows = held(in: part)
            outside.subtract(rows)
            if part.sum == sum(of: rows) { continue }
            if part.sum.count > Self.leastRange, depth < Self.mostDepth {
                try await compare(query, part, depth + 1)
            } else {
                try await list(query, part, rows)
            }
        }
        note(extra: outside)
    }

    private func held(in range: TableDigest.Range?) -> [RecordID] {
        guard let range else { return ids }
        return ids.filter { range.from <= $0 && $0 <= range.to }
    }

    private func sum(of ids: [RecordID]) -> RowDigest {
        ids.reduce(into: RowDigest()) { $0.add(id: $1, version: versions[$1] ?? nil) }
    }

    /// The server's digest; nil where it offers none that is of use.
    private mutating func digest(_ query: Query, _ range: TableDigest.Range?) async throws -> TableDigest? {
        try count()
        let request = try client.dialect.digest(
            table: query.table, query: query, range: range, endpoint: client.endpoint)
        let response = try await client.send(request)
        if [400, 404, 405, 501].contains(response.status) { return nil }
        if let failure = client.dialect.failure(response, for: request.context) { throw failure }
        let digest = (try? response.body.json).flatMap { TableDigest($0) }
        return digest.flatMap { $0.isOrdered(within: range) ? $0 : nil }
    }

    private mutating func count() throws {
        try Task.checkCancellation()
        answers += 1
        guard answers <= Self.mostAnswers else {
            throw SluiceError(.limitReached, "the server has given \(answers) answers, and its rows have no end")
        }
    }

    /// Lists ids and versions of a range and notes what differs.
    private mutating func list(_ query: Query, _ range: TableDigest.Range?, _ here: [RecordID]) async throws {
        let columns = client.dialect.columns
        var query = query
        query.select = [columns.id, columns.version]
        if query.order.isEmpty { query.order = [.init(columns.id)] }
        if let range {
            let bounds = QueryExpression.binary(
                .and, .binary(.ge, .column(columns.id), .literal(.id(range.from))),
                .binary(.le, .column(columns.id), .literal(.id(range.to))))
            query.filter = query.filter.map { .binary(.and, $0, bounds) } ?? bounds
        }
        var unseen = Set(here)
        for try await page in client.table(query.table).pages(query) {
            try count()
            for row in page.rows {
                guard let id = row[columns.id]?.textID else { continue }
                unseen.remove(id)
                let version = row[columns.version]?.string
                if versions[id] == .some(version) { continue }
                if waiting.contains(id) {
                    result.waiting += 1
                } else if versions[id] == nil {
                    result.missing.append(id)
                } else {
                    result.old.append(id)
                }
            }
        }
        note(extra: unseen)
    }

    private mutating func note(extra ids: Set<RecordID>) {
        result.waiting += ids.intersection(waiting).count
        result.extra += ids.subtracting(waiting).sorted()
    }
}
