public import SluiceBase
public import SluiceWire

extension SyncContext {
    /// Returns the table of that name, whose records are JSON objects.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a name that no table can have.
    public func table(_ name: String) throws -> SyncTable<JSON> { try table(name, of: JSON.self) }

    /// Returns the table of that name, whose records are values of `type`.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a name that no table can have.
    public func table<Record: Codable & Sendable>(_ name: String, of type: Record.Type) throws -> SyncTable<Record> {
        try SyncTables.validate(name)
        return SyncTable(name, self)
    }

    /// Returns the table of the type's records.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a name that no table can have.
    public func table<Record: TableRecord>(_ type: Record.Type) throws -> SyncTable<Record> {
        try table(type.tableName, of: type)
    }

    /// Stores a change of one record with its operation.
    ///
    /// - Returns: the record as it is stored; nil for a change without a record.
    func change(
        _ kind: TableOperation.Kind, _ id: RecordID, in table: String, _ content: JSON, _ options: OperationOptions
    ) async throws -> JSON? {
        let environment = self.options.environment
        let change = LocalChange(
            kind, id, in: table, content: content, options: options, user: self.options.user,
            systemColumns: dialect.pushColumns.system, localOnly: localOnly, namesKeys: dialect.namesKeys)
        if !localOnly.tables.contains(table),
            let chain = AskedHooks(self.options.hooks, .beforeEnqueue, table: table)
        {
            return try await HookedWrite(change: change, chain: chain, context: self).carryOut()
        }
        return try await store.write(at: .localChange, environment) {
            try change.apply(to: $0, environment: environment)
        }
    }
}
