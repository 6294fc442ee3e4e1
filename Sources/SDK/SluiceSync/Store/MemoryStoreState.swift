internal import SluiceBase

/// The content of a ``MemoryStore`` at one moment.
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

        /// Returns the keys to search for the query: a superset of its results.
        func candidates(for query: TableQuery, _ evaluator: TableQuery.Evaluator) -> [Key] {
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
        // Merged as if the table were new, so that invalid declarations are refused.
        let checked = try StoreRules.merge(schema, into: nil)
        tables[Key(schema.name), default: Table(schema: checked)].define(checked)
    }

    mutating func drop(_ table: Key) { tables[table] = nil }

    func record(_ id: Key, in table: Key) -> JSON? { tables[table]?.records[id] }

    func records(matching query: TableQuery) throws(SluiceError) -> [JSON] {
        let table = tables[Key(query.table)]
        let evaluator = try TableQuery.Evaluator(query, schema: table?.schema)
        guard let table else { return [] }
        return evaluator.apply(to: table.candidates(for: query, evaluator).compactMap { table.records[$0] })
    }

    /// Returns the keys of the records that match the query's filter.
    func keys(matching query: TableQuery) throws(SluiceError) -> [Key] {
        var query = query
        query.top = nil
        let table = tables[Key(query.table)]
        let evaluator = try TableQuery.Evaluator(query, schema: table?.schema)
        guard let table else { return [] }
        return table.candidates(for: query, evaluator).filter { key in
            table.records[key].map(evaluator.matches) ?? false
        }
    }

    /// Puts a record, or removes it for nil.
    mutating func set(_ record: JSON?, _ key: Key, in table: Key, named name: String) {
        if record == nil {
            tables[table]?.set(key, nil)
        } else {
            tables[table, default: Table(schema: TableSchema(name))].set(key, record)
        }
    }
}

/// The indexes of a table in memory. They narrow a query to a few candidate records.
///
/// An index over text columns finds records by equality; one over a single integer column keeps them in order. Other
/// indexes are not kept: their queries scan all records.
struct MemoryStoreIndexes: Sendable {
    typealias Key = MemoryStoreState.Key

    private struct ByText: Sendable {
        let columns: [PropertyName]
        var keys: [[String]: Set<Key>] = [:]
    }

    fileprivate struct Entry: Sendable, Comparable {
        let value: Int64
        let key: Key

        static func < (left: Entry, right: Entry) -> Bool {
            left.value == right.value ? left.key < right.key : left.value < right.value
        }
    }

    fileprivate struct InOrder: Sendable {
        let column: PropertyName
        var places: [Entry] = []
        /// The number of records without an integer in the column.
        var missing = 0
    }

    private var byText: [ByText] = []
    private var inOrder: [InOrder] = []

    init() {}

    /// Builds the indexes of the schema over the records.
    init(_ schema: TableSchema, over records: [Key: JSON]) {
        for columns in schema.indexes {
            let types = columns.map { schema.column($0)?.type }
            if types.allSatisfy({ $0 == .string }) {
                byText.append(ByText(columns: columns))
            } else if types == [.integer] {
                inOrder.append(InOrder(column: columns[0]))
            }
        }
        for (key, record) in records { change(key, from: nil, to: record) }
    }

    /// Updates the indexes after a change of a record.
    mutating func change(_ key: Key, from old: JSON?, to new: JSON?) {
        for index in byText.indices {
            let columns = byText[index].columns
            let (before, after) = (Self.texts(old, columns), Self.texts(new, columns))
            if before == after { continue }
            if let before {
                byText[index].keys[before]?.remove(key)
                if byText[index].keys[before]?.isEmpty == true { byText[index].keys[before] = nil }
            }
            if let after { byText[index].keys[after, default: []].insert(key) }
        }
        for index in inOrder.indices {
            let column = inOrder[index].column
            let (before, after) = (old?[column]?.int, new?[column]?.int)
            if old != nil, new != nil, before == after { continue }
            if old != nil { inOrder[index].remove(before, key) }
            if new != nil { inOrder[index].insert(after, key) }
        }
    }

    private static func texts(_ record: JSON?, _ columns: [PropertyName]) -> [String]? {
        guard let record else { return nil }
        let texts = columns.compactMap { record[$0]?.string }
        return texts.count == columns.count ? texts : nil
    }

    /// Returns the keys to search for the query; nil if no index helps.
    func candidates(for query: TableQuery, _ matches: (Key) -> Bool) -> [Key]? {
        let terms = query.filter.map(Self.terms) ?? []
        for index in byText {
            let values = index.columns.compactMap { column in
                terms.lazy.compactMap { Self.text($0, equalTo: column) }.first
            }
            if values.count == index.columns.count { return index.keys[values].map(Array.init) ?? [] }
        }
        guard query.order.count == 1, let key = query.order.first, let column = key.column,
            let index = inOrder.first(where: { $0.column == column }), index.missing == 0
        else { return nil }
        let after = terms.lazy.compactMap { Self.bound($0, below: column) }.first
        let top = query.top.map { top in
            let (sum, isTooLarge) = top.addingReportingOverflow(query.skip)
            return isTooLarge ? .max : sum
        }
        return index.keys(after: after, descending: key.descending, top: top, matches)
    }

    /// Returns the conjuncts of a filter.
    private static func terms(_ filter: QueryExpression) -> [QueryExpression] {
        if case .binary(.and, let left, let right) = filter { return terms(left) + terms(right) }
        return [filter]
    }

    private static func text(_ term: QueryExpression, equalTo column: PropertyName) -> String? {
        guard case .binary(.eq, .column(let name), .literal(.string(let text))) = term, name == column
        else {
            return nil
        }
        return text
    }

    private static func bound(_ term: QueryExpression, below column: PropertyName) -> Int64? {
        guard case .binary(.gt, .column(let name), .literal(.number(let number))) = term,
            name == column,
            case .int(let value) = number.storage
        else { return nil }
        return value
    }
}

extension MemoryStoreIndexes.InOrder {
    fileprivate mutating func insert(_ value: Int64?, _ key: MemoryStoreState.Key) {
        guard let value else { return missing += 1 }
        let place = MemoryStoreIndexes.Entry(value: value, key: key)
        places.insert(place, at: position { $0 < place })
    }

    fileprivate mutating func remove(_ value: Int64?, _ key: MemoryStoreState.Key) {
        guard let value else { return missing -= 1 }
        let place = MemoryStoreIndexes.Entry(value: value, key: key)
        let position = position { $0 < place }
        if position < places.count, places[position] == place { places.remove(at: position) }
    }

    /// Returns the position of the first place for which `isBefore` is false.
    private func position(_ isBefore: (MemoryStoreIndexes.Entry) -> Bool) -> Int {
        if let last = places.last, isBefore(last) { return places.count }
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(places[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns keys from one end, until `top` of them match, plus all keys with the last value.
    fileprivate func keys(
        after bound: Int64?, descending: Bool, top: Int?, _ matches: (MemoryStoreState.Key) -> Bool
    ) -> [MemoryStoreState.Key] {
        let range = places[(bound.map { bound in position { $0.value <= bound } } ?? 0)...]
        guard let top else { return range.map(\.key) }
        var keys: [MemoryStoreState.Key] = []
        var last: Int64?
        func take(_ place: MemoryStoreIndexes.Entry) -> Bool {
            if keys.count >= top, place.value != last { return false }
            if matches(place.key) {
                keys.append(place.key)
                last = place.value
            }
            return true
        }
        if descending {
            for place in range.reversed() { if !take(place) { break } }
        } else {
            for place in range { if !take(place) { break } }
        }
        return keys
    }
}
