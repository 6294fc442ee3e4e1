/// All that a ``MemoryStore`` holds at one moment.
struct MemoryStoreState: Sendable {
    /// A name or an id, equal to another only if the code points are: Swift's strings are looser than databases.
    struct Key: Hashable, Comparable, Sendable {
        private let bytes: [UInt8]

        init(_ text: String) { bytes = Array(text.utf8) }

        init(bytes: [UInt8]) { self.bytes = bytes }

        static func < (left: Key, right: Key) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
    }

    private(set) var tables: [Key: MemoryStoreTable] = [:]

    mutating func define(_ schema: TableSchema) throws(SluiceError) {
        let key = Key(schema.name)
        let merged = try StoreRules.merge(schema, into: tables[key]?.schema)
        tables[key, default: MemoryStoreTable(merged)].define(merged)
    }

    func record(_ id: String, in table: String) -> JSON? { tables[Key(table)]?.records[Key(id)] }

    func records(matching query: Query) throws(SluiceError) -> [JSON] {
        let table = tables[Key(query.table)]
        let evaluator = try QueryEvaluator(query, schema: table?.schema)
        return table?.records(matching: query, evaluator) ?? []
    }

    /// The keys of the records that match the query's filter.
    func keys(matching query: Query) throws(SluiceError) -> [Key] {
        let table = tables[Key(query.table)]
        let evaluator = try QueryEvaluator(query, schema: table?.schema)
        return table?.keys(matching: query, evaluator) ?? []
    }

    /// Puts the record, or takes away what is under the key if it is nil.
    ///
    /// - Returns: what was there before.
    mutating func set(_ record: JSON?, at key: Key, in table: String) -> JSON? {
        let name = Key(table)
        guard record != nil || tables[name] != nil else { return nil }
        return tables[name, default: MemoryStoreTable(TableSchema(table))].set(record, at: key)
    }
}
