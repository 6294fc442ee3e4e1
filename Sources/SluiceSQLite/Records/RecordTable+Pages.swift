package import SluiceCore

extension RecordTable {
    /// Puts rows of a page straight from its bytes. What is stored is what ``put(_:on:)`` of each row's record stores.
    ///
    /// - Throws: ``SluiceError`` of code `invalidRecord` for a row without a string id.
    package func put(_ rows: RowPage.Selection, on connection: SQLiteConnection) throws {
        if rows.indices.isEmpty { return }
        let page = rows.page
        let statement = try connection.statement(upsertSQL)
        try page.bytes.withUnsafeBufferPointer { bytes in
            try page.tape.tokens.withUnsafeBufferPointer { tokens in
                let lengths = rows.indices.lazy.map { index in
                    let object = tokens[page.rows[index].token]
                    return Int(object.end - object.start)
                }
                try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: lengths.max() ?? 0) { decoded in
                    // The statement holds pointers into the page and into the room for decoded text until then.
                    defer { statement.reset() }
                    var binder = RecordPageBinder(
                        self, statement, page, bytes: bytes, tokens: tokens, decoded: decoded)
                    for index in rows.indices { try put(index, of: page, with: &binder, on: connection) }
                }
            }
        }
    }

    private func put(
        _ index: Int, of page: RowPage, with binder: inout RecordPageBinder, on connection: SQLiteConnection
    ) throws {
        do {
            switch page.revision(at: index) {
            case nil: try binder.put(page.rows[index].token, with: nil)
            case .members(let members): try binder.put(page.rows[index].token, with: members)
            case .record(let record): try put(record, on: connection)
            }
        } catch var error as SluiceError {
            error.table = schema.name
            error.recordID = page.rows[index].id
            throw error
        }
    }
}
