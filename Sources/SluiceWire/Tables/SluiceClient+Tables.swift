extension SluiceClient {
    /// The table of that name, without a type.
    public func table(_ name: String) -> Table { Table(name, client: self) }

    /// The table of that name, whose records are values of `type`.
    public func table<Record: Codable & Sendable>(_ name: String, of type: Record.Type) -> TypedTable<Record> {
        TypedTable(name, client: self)
    }

    /// The table that the type's records are in.
    public func table<Record: TableRecord>(_ type: Record.Type) -> TypedTable<Record> {
        TypedTable(type.tableName, client: self)
    }

    /// The custom call of that name: `/api/name`.
    public func api(_ name: String) -> CustomAPI { CustomAPI(name, client: self) }
}
