public import SluiceBase

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
