public import SluiceBase

/// The reading half of a transaction.
public protocol StoreReader {
    /// Returns the record with that id, or nil. A missing table holds no record.
    func record(_ id: RecordID, in table: String) throws -> JSON?

    /// Returns the matching records, in the query's order (then by id), with `skip`, `top` and `select` applied.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for an invalid query.
    func records(matching query: TableQuery) throws -> [JSON]

    /// Returns the number of records that match the query's filter; its `skip`, `top` and `select` are ignored.
    func count(matching query: TableQuery) throws -> Int

    /// Returns the records whose columns have exactly those texts, in the order of another column, then by id.
    ///
    /// The engine asks for every local change. It names columns declared as `string`, and an order declared as
    /// `integer`. The default is a query.
    func records(
        in table: String, where texts: [(column: PropertyName, text: String)], orderedBy order: PropertyName
    ) throws -> [JSON]

    /// Returns the largest value of a column declared as `integer`; nil if no record has one.
    ///
    /// The engine asks for every new operation. The default is a query.
    func largest(_ column: PropertyName, in table: String) throws -> Int64?

    /// Returns the store's tables as declared; an undeclared table has no columns.
    func tables() throws -> [TableSchema]
}

extension StoreReader {
    /// Returns the records that a query finds.
    public func records(
        in table: String, where texts: [(column: PropertyName, text: String)], orderedBy order: PropertyName
    ) throws -> [JSON] {
        try records(matching: TableQuery(table, where: texts, orderedBy: order))
    }

    /// Returns the value of the first record in the descending order of the column.
    public func largest(_ column: PropertyName, in table: String) throws -> Int64? {
        try records(matching: TableQuery(largest: column, in: table)).first?[column]?.int
    }
}

extension TableQuery {
    /// A query for the records of ``StoreReader/records(in:where:orderedBy:)``.
    package init(
        _ table: String, where texts: [(column: PropertyName, text: String)], orderedBy order: PropertyName
    ) {
        let terms = texts.map { QueryExpression.binary(.eq, .column($0.column), .literal(.string($0.text))) }
        let filter = terms.dropFirst().reduce(terms.first) { all, term in all.map { .binary(.and, $0, term) } }
        self.init(table, filter: filter, order: [.init(order)])
    }

    /// A query for the record of ``StoreReader/largest(_:in:)``.
    package init(largest column: PropertyName, in table: String) {
        self.init(table, order: [.init(column, descending: true)], top: 1, select: [column])
    }
}

extension StoreReader {
    /// Calls `body` with all records of a table in the order of their ids. It reads some at a time, so that a large
    /// table is never in memory whole. Records put during the loop are included if their ids are still ahead.
    func forEachRecord(in table: String, _ body: (JSON) throws -> Void) throws {
        var last: String?
        while true {
            let after = last.map { QueryExpression.binary(.gt, .column("id"), .literal(.string($0))) }
            let some = try records(matching: TableQuery(table, filter: after, order: [.init("id")], top: 500))
            for record in some { try body(record) }
            guard let end = some.last?["id"]?.string else { return }
            last = end
        }
    }

    /// Returns the record for an application's id: the one with the same bytes, or else the one with the same GUID in
    /// lower or upper case, as the server may write it.
    func record(named id: RecordID, in table: String) throws -> JSON? {
        for id in id.spellings { if let record = try record(id, in: table) { return record } }
        return nil
    }
}
