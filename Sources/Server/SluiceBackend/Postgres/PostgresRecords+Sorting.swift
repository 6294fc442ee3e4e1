internal import SluiceCore
internal import SluicePostgres

/// Orders that the database does not support: the page is found in one walk over the matching records.
extension PostgresRecords {
    /// The number of records in memory before the last ones in the order are dropped.
    private static let leastHeld = 1000

    /// Calls `body` with the records of the query's page, in its order. It keeps at most twice the records up to the
    /// page's end, and of each only the id and the sort keys.
    func forEachSorted(
        _ query: TableQuery, _ matcher: PostgresMatcher, on connection: any StorageConnection,
        _ body: (_ record: JSON, _ stored: Int) throws -> Bool
    ) throws {
        let (end, isBeyond) = query.skip.addingReportingOverflow(query.top ?? .max)
        let most = isBeyond ? Int.max : end
        var keys = TableQuery(query.table, order: query.order)
        // Sort keys over links need the whole record.
        keys.related = query.related
        let columns = query.order.reduce(into: Set<PropertyName>()) { $0.formUnion($1.expression.columns) }
        let held = query.related == nil ? (["id"] + columns.subtracting(["id"]).sorted()) : []
        var first = keys
        first.top = most == .max ? nil : most
        let sorter = try PostgresMatcher(first, schema)

        var found: [JSON] = []
        var sql = SQLText(selectSQL)
        PostgresFilter(query.filter, schema).append(to: &sql)
        try Self.postgres(connection).walk(sql) { rows in
            let records = try (0..<rows.count).map { try record(rows, $0) }
            found += try matcher.matching(records[...], on: connection).map {
                TableQuery.Evaluator.selecting(held, from: $0)
            }
            if found.count > Self.leastHeld, found.count / 2 > most {
                found = try sorter.apply(to: found, on: connection)
            }
            return true
        }
        found = try sorter.apply(to: found, on: connection)
        for key in found.dropFirst(query.skip) {
            guard let record = try held.isEmpty ? key : self.record(RecordID(key["id"]?.string ?? ""), on: connection)
            else { continue }
            guard try body(TableQuery.Evaluator.selecting(query.select, from: record), record.bytes().count) else {
                return
            }
        }
    }
}
