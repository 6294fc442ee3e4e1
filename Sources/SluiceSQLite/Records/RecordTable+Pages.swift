package import SluiceCore

extension RecordTable {
    /// Puts rows of a page straight from its bytes. What is stored is what ``put(_:on:)`` of each row's record stores.
    ///
    /// - Throws: ``SluiceError`` of code `invalidRecord` for a row without a string id.
    package func put(_ rows: RowPage.Selection, on connection: SQLiteConnection) throws {
        if rows.indices.isEmpty { return }
        let statement = try connection.statement(upsertSQL)
        // The statement holds pointers into the page until then.
        defer { statement.reset() }
        try rows.page.bytes.withUnsafeBufferPointer { bytes in
            var binder = RecordPageBinder(self, statement, rows.page.tape, bytes)
            for index in rows.indices {
                do {
                    try binder.put(rows.page.rows[index].token)
                } catch var error as SluiceError {
                    error.table = schema.name
                    error.recordID = rows.page.rows[index].id
                    throw error
                }
            }
        }
    }
}
