package import SluiceCore

extension RecordTable {
    /// Walks over the records that match the filter, in the binary order of their ids, without holding more than one.
    /// `body` gets a statement with the id and then `columns`, in their stored form.
    package func scan(
        _ columns: [PropertyName], matching filter: QueryExpression?, on connection: SQLiteConnection,
        _ body: (SQLiteStatement) throws -> Void
    ) throws {
        let names = (["id"] + columns).map { SQLDialect.sqlite.quoted($0.text) }.joined(separator: ", ")
        var sql = SQLText("SELECT \(names) FROM \(quotedStorage)")
        sql.append(try condition(TableQuery(schema.name, filter: filter)))
        sql.append(" ORDER BY \"id\"")
        let statement = try connection.statement(sql.text)
        defer { statement.reset() }
        try statement.bind(sql.values)
        while try statement.step() { try body(statement) }
    }
}
