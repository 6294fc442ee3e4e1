internal import SluiceBase

/// All that a ``MemoryStore`` holds at one moment.
struct MemoryStoreState: Sendable {
    /// A table's name or a record's id.
    typealias Key = ExactName

    struct Table: Sendable {
        private(set) var schema: TableSchema
        private(set) var records: [Key: JSON] = [:]
        private var indexes = MemoryStoreIndexes()

        init(schema: TableSchema) { self.schema = schema }

        mutating func define(_ schema: TableSchema) {
            self.schema = schema
            indexes = MemoryStoreIndexes(schema, over: records)
        }

        mutating func set(_ key: Key, _ record: JSON?) {
            let old = records[key]
            records[key] = record
            indexes.change(key, from: old, to: record)
        }

        /// The records among which those that the query asks for are.
        func candidates(for query: Query, _ evaluator: QueryEvaluator) -> [Key] {
            let few = indexes.candidates(for: query) { key in records[key].map(evaluator.matches) ?? false }
            return few ?? Array(records.keys)
        }
    }

    private var tables: [Key: Table] = [:]

    var schemas: [TableSchema] { tables.values.map(\.schema) }

    mutating func define(_ schema: TableSchema) throws(SluiceError) {
        let key = Key(schema.name)
        let merged = try StoreRules.merge(schema, into: tables[key]?.schema)
        tables[key, default: Table(schema: merged)].define(merged)
    }

    mutating func redeclare(_ schema: TableSchema) throws(SluiceError) {
        // As if it were new, so that what is not allowed is refused.
        let checked = try StoreRules.merge(schema, into: nil)
        tables[Key(schema.name), default: Table(schema: checked)].define(checked)
    }

    mutating func drop(_ table: Key) { tables[table] = nil }

    func record(_ id: Key, in table: Key) -> JSON? { tables[table]?.records[id] }

    func records(matching query: Query) throws(SluiceError) -> [JSON] {
        let table = tables[Key(query.table)]
        let evaluator = try QueryEvaluator(query, schema: table?.schema)
        guard let table else { return [] }
        return evaluator.apply(to: table.candidates(for: query, evaluator).compactMap { table.records[$0] })
    }

    /// The keys of the records that match the query's filter.
    func keys(matching query: Query) throws(SluiceError) -> [Key] {
        var query = query
        query.top = nil
        let table = tables[Key(query.table)]
        let evaluator = try QueryEvaluator(query, schema: table?.schema)
        guard let table else { return [] }
        return table.candidates(for: query, evaluator).filter { key in
            table.records[key].map(evaluator.matches) ?? false
        }
    }

    /// Puts a record, or takes it away.
    mutating func set(_ record: JSON?, _ key: Key, in table: Key, named name: String) {
        if record == nil {
            tables[table]?.set(key, nil)
        } else {
            tables[table, default: Table(schema: TableSchema(name))].set(key, record)
        }
    }
}
