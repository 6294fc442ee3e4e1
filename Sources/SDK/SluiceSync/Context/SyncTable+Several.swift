extension SyncTable {
    /// Adds records, all of them in one transaction or none.
    ///
    /// - Returns: the records as they are stored, in their order.
    /// - Throws: as ``insert(_:options:)``.
    @discardableResult
    public func insert(_ records: [Record], options: OperationOptions = OperationOptions()) async throws -> [Record] {
        try await context.write(options: options) { transaction in
            let table = TransactionTable(self, in: transaction)
            return try records.map { try table.insert($0) }
        }
    }

    /// Adds a record, or writes it over the stored one of its id, as ``update(_:options:)`` does. A record that only the
    /// server has is added here, and the push meets it as a conflict: see ``ConflictHandler``.
    ///
    /// - Returns: the record as it is stored.
    /// - Throws: as ``insert(_:options:)->Record`` and ``update(_:options:)``.
    @discardableResult
    public func upsert(_ record: Record, options: OperationOptions = OperationOptions()) async throws -> Record {
        try await context.write(options: options) { try TransactionTable(self, in: $0).upsert(record) }
    }
}
