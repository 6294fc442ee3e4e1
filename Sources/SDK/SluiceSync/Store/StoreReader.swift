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

/// The writing half of a transaction. Reads see its own writes.
public protocol StoreWriter: StoreReader {
    /// Inserts the record, or replaces the one with its id as a whole. An undeclared table is created.
    ///
    /// - Throws: ``SluiceError`` of code `invalidRecord` for a record without a string id.
    func put(_ record: JSON, in table: String) throws

    /// Puts rows of a page, each as ``put(_:in:)`` would. A store may read them directly from the page's bytes; the
    /// default decodes them into records.
    func put(_ rows: RowPage.Selection, in table: String) throws

    /// Puts the record of a row, as `put(_:in:)` would put ``StoreRow/record``.
    ///
    /// The engine puts its own rows so, with every change. A store may write the values into its columns directly; the
    /// default makes the record.
    func put(_ row: StoreRow) throws

    /// Removes the records with those ids. An unknown id is no error.
    func delete(_ ids: [RecordID], from table: String) throws

    /// Removes the records that match the query's filter, and returns their number.
    func delete(matching query: TableQuery) throws -> Int

    /// Replaces a table's declaration: its columns and indexes are these from now on. Its records keep all properties.
    /// A missing table is created.
    ///
    /// - Throws: ``SluiceError`` of code `invalidTable` for names that are not allowed.
    func redeclare(_ table: TableSchema) throws

    /// Removes a table with its records and its declaration. A missing table is no error.
    func drop(_ table: String) throws
}

extension StoreWriter {
    /// Makes a record of each row and puts it.
    public func put(_ rows: RowPage.Selection, in table: String) throws {
        for index in rows.indices { try put(rows.page.record(at: index), in: table) }
    }

    /// Makes the row's record and puts it.
    public func put(_ row: StoreRow) throws { try put(row.record, in: row.schema.name) }
}
