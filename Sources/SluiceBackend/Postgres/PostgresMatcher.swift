internal import SluiceCore

/// Decides about records that PostgreSQL gives, as queries mean it, with what is linked to them.
struct PostgresMatcher {
    private let query: Query
    private let plain: QueryEvaluator
    private let links: PostgresLinks?

    /// - Throws: ``SluiceError`` as ``QueryEvaluator``, and as ``QueryRelatives/used(by:)``.
    init(_ query: Query, _ schema: TableSchema) throws(SluiceError) {
        self.query = query
        guard let related = query.related else {
            plain = try QueryEvaluator(query, schema: schema)
            links = nil
            return
        }
        plain = try QueryEvaluator(query, schema: related.main, relations: related)
        links = try PostgresLinks(related, of: query)
    }

    /// Those of the records that match.
    func matching(_ records: ArraySlice<JSON>, on connection: any StorageConnection) throws -> [JSON] {
        guard let links, !records.isEmpty else { return records.filter(plain.matches) }
        guard let evaluator = try evaluator(links, of: records, on: connection) else {
            // From fewer records at a time, links lead to fewer.
            guard records.count > 1 else { throw Self.tooMany(query) }
            let middle = records.startIndex + records.count / 2
            return try matching(records[..<middle], on: connection) + matching(records[middle...], on: connection)
        }
        return records.filter(evaluator.matches)
    }

    /// The records that match, in the query's order, with `skip`, `top` and `select` applied.
    func apply(to records: [JSON], on connection: any StorageConnection) throws -> [JSON] {
        guard let links else { return plain.apply(to: records) }
        guard let evaluator = try evaluator(links, of: records[...], on: connection) else { throw Self.tooMany(query) }
        return evaluator.apply(to: records)
    }

    private func evaluator(
        _ links: PostgresLinks, of records: ArraySlice<JSON>, on connection: any StorageConnection
    ) throws -> QueryEvaluator? {
        guard let related = query.related, let linked = try links.linked(to: records, on: connection)
        else { return nil }
        return try QueryEvaluator(query, schema: related.main, relations: linked)
    }

    private static func tooMany(_ query: Query) -> SluiceError {
        SluiceError(
            .unsupported, "the links lead to more than \(PostgresLinks.mostRecords) records", table: query.table)
    }
}
