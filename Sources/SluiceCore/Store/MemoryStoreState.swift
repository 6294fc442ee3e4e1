/// All that a ``MemoryStore`` holds at one moment.
struct MemoryStoreState: Sendable {
    /// A name or an id, equal to another only if the code points are: Swift's strings are looser than databases.
    struct Key: Hashable, Sendable {
        private let bytes: [UInt8]

        init(_ text: String) { bytes = Array(text.utf8) }
    }

    struct Table: Sendable {
        var schema: TableSchema
        var records: [Key: JSON] = [:]
    }

    private(set) var tables: [Key: Table] = [:]

    mutating func define(_ schema: TableSchema) throws(SluiceError) {
        let key = Key(schema.name)
        let merged = try StoreRules.merge(schema, into: tables[key]?.schema)
        tables[key, default: Table(schema: merged)].schema = merged
    }

    func record(_ id: String, in table: String) -> JSON? { tables[Key(table)]?.records[Key(id)] }

    func records(matching query: Query) throws(SluiceError) -> [JSON] {
        let table = tables[Key(query.table)]
        let evaluator = try QueryEvaluator(query, schema: table?.schema)
        return table.map { evaluator.apply(to: Array($0.records.values)) } ?? []
    }

    /// The keys of the records that match the query's filter.
    func keys(matching query: Query) throws(SluiceError) -> [Key] {
        let table = tables[Key(query.table)]
        let evaluator = try QueryEvaluator(query, schema: table?.schema)
        return table?.records.filter { evaluator.matches($0.value) }.map(\.key) ?? []
    }

    mutating func put(_ record: JSON, in table: String) throws(SluiceError) {
        try StoreRules.check(table: table)
        let id = try StoreRules.id(of: record, in: table)
        tables[Key(table), default: Table(schema: TableSchema(table))].records[Key(id)] = record
    }

    mutating func delete(_ keys: [Key], from table: String) {
        let table = Key(table)
        for key in keys { tables[table]?.records[key] = nil }
    }
}
