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
    public func table<Record: SyncRecord>(_ type: Record.Type) throws -> SyncTable<Record> {
        try table(type.tableName, of: type)
    }
}
