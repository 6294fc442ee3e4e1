internal import SluiceCore

/// Evaluates a query on PostgreSQL's records and their linked records.
struct PostgresMatcher {
    private let query: TableQuery
    private let plain: TableQuery.Evaluator
    private let links: PostgresLinks?

    /// - Throws: ``SluiceError`` as ``TableQuery.Evaluator``, and as ``QueryRelatives/used(by:)``.
    init(_ query: TableQuery, _ schema: TableSchema) throws(SluiceError) {
        self.query = query
        guard let related = query.related else {
            plain = try TableQuery.Evaluator(query, schema: schema)
            links = nil
            return
        }
        plain = try TableQuery.Evaluator(query, schema: related.main, relations: related)
        links = try PostgresLinks(related, of: query)
    }

    /// Returns the records that match.
    func matching(_ records: ArraySlice<JSON>, on connection: any StorageConnection) throws -> [JSON] {
        guard let links, !records.isEmpty else { return records.filter(plain.matches) }
        guard let evaluator = try evaluator(links, of: records, on: connection) else {
            // Fewer records at a time have fewer linked ones.
            guard records.count > 1 else { throw Self.tooMany(query) }
            let middle = records.startIndex + records.count / 2
            return try matching(records[..<middle], on: connection) + matching(records[middle...], on: connection)
        }
        return records.filter(evaluator.matches)
    }

    /// Returns the records that match, in the query's order, with `skip`, `top` and `select` applied.
    func apply(to records: [JSON], on connection: any StorageConnection) throws -> [JSON] {
        guard let links else { return plain.apply(to: records) }
        guard let evaluator = try evaluator(links, of: records[...], on: connection) else { throw Self.tooMany(query) }
        return evaluator.apply(to: records)
    }

    private func evaluator(
        _ links: PostgresLinks, of records: ArraySlice<JSON>, on connection: any StorageConnection
    ) throws -> TableQuery.Evaluator? {
        guard let related = query.related, let linked = try links.linked(to: records, on: connection)
        else { return nil }
        return try TableQuery.Evaluator(query, schema: related.main, relations: linked)
    }

    private static func tooMany(_ query: TableQuery) -> SluiceError {
        SluiceError(
            .unsupported, "the links lead to more than \(PostgresLinks.mostRecords) records", table: query.table)
    }
}

/// The linked records along the paths of a query. They are read before the evaluation, with one statement for 500
/// values of a link.
struct PostgresLinks {
    /// The most linked records in memory. It equals the evaluator's limit of elements for one record.
    static let mostRecords = 100_000

    private let related: QueryRelatives
    private let tree: NavigationTree

    /// - Throws: ``SluiceError`` as ``QueryRelatives/tree(of:)``.
    init(_ related: QueryRelatives, of query: TableQuery) throws(SluiceError) {
        self.related = related
        tree = try related.tree(of: query)
    }

    /// Returns the records linked to the given ones; nil for more than ``mostRecords``.
    func linked(to records: ArraySlice<JSON>, on connection: any StorageConnection) throws -> LinkedRecords? {
        var linked = LinkedRecords(related)
        return try read(tree, from: records, into: &linked, on: connection) ? linked : nil
    }

    /// - Returns: whether all were read.
    private func read(
        _ tree: NavigationTree, from records: ArraySlice<JSON>, into linked: inout LinkedRecords,
        on connection: any StorageConnection
    ) throws -> Bool {
        for (reference, inner) in tree.branches {
            guard let target = related.tables[reference.table] else { continue }
            let storage = try connection.records(target.stored)
            var found: [JSON] = []
            for values in linked.unread(reference, from: records) {
                let literals: [TableQuery.Literal] = values.compactMap {
                    Self.literal($0, of: reference.targetColumn, in: target.stored)
                }
                if literals.isEmpty { continue }
                let query = TableQuery(
                    target.stored.name,
                    filter: .binary(.and, .membership(.column(reference.targetColumn), literals), target.scope),
                    order: [.init("id")], top: Self.mostRecords + 1)
                found += try storage.records(matching: query, on: connection)
                guard linked.count + found.count <= Self.mostRecords else { return false }
            }
            linked.add(target.shown(found), of: reference)
            // Another link may have read some of these records without following these links from them.
            let ends = linked.ends(of: reference, from: records)
            guard try read(inner, from: ends[...], into: &linked, on: connection) else { return false }
        }
        return true
    }

    /// Returns the value in the target column's form; nil if the column cannot hold it.
    private static func literal(_ value: String, of column: PropertyName, in schema: TableSchema) -> TableQuery.Literal?
    {
        switch column == "id" ? .string : schema.column(column)?.type {
        case .string: .string(value)
        case .integer: Int64(value).map { .number(JSON.Number($0)) }
        case .real: Double(value).flatMap { JSON.Number($0) }.map { .number($0) }
        case .boolean: Bool(value).map { .bool($0) }
        case .date: Timestamp(value).map { .date($0) }
        case .json, nil: nil
        }
    }
}

extension QueryRelatives.Table {
    /// Returns the records without the columns hidden from queries.
    fileprivate func shown(_ records: [JSON]) -> [JSON] {
        let hidden = stored.columns.map(\.name).filter { $0 != "id" && schema.column($0) == nil }
        return records.map { record in
            var record = record
            for name in hidden { record[name] = nil }
            return record
        }
    }
}

/// Records of other tables, by the links that lead to them.
struct LinkedRecords: TableQuery.Relations {
    private struct End: Hashable {
        let table: String
        let column: PropertyName
        let value: ExactName
    }

    private let related: QueryRelatives
    private var records: [End: [JSON]] = [:]
    private(set) var count = 0

    init(_ related: QueryRelatives) { self.related = related }

    func schema(of table: String) -> TableSchema? { related.schema(of: table) }

    func records(of table: String, where column: PropertyName, equals value: JSON) -> [JSON] {
        Self.text(value).flatMap { records[End(table: table, column: column, value: ExactName($0))] } ?? []
    }

    /// Returns the link's values in the records, without those already read, 500 at a time.
    func unread(_ reference: TableSchema.Reference, from records: ArraySlice<JSON>) -> [[String]] {
        var seen: Set<ExactName> = []
        let values = records.compactMap { $0[reference.column].flatMap(Self.text) }.filter { value in
            let end = End(table: reference.table, column: reference.targetColumn, value: ExactName(value))
            return self.records[end] == nil && seen.insert(ExactName(value)).inserted
        }
        return stride(from: 0, to: values.count, by: 500).map { Array(values[$0..<min($0 + 500, values.count)]) }
    }

    /// Returns the known records at the end of the link from some of the given ones.
    func ends(of reference: TableSchema.Reference, from records: ArraySlice<JSON>) -> [JSON] {
        let values = Set(records.compactMap { $0[reference.column].flatMap(Self.text).map { ExactName($0) } })
        return values.flatMap {
            self.records[End(table: reference.table, column: reference.targetColumn, value: $0)] ?? []
        }
    }

    mutating func add(_ found: [JSON], of reference: TableSchema.Reference) {
        for record in found {
            guard let value = record[reference.targetColumn].flatMap(Self.text) else { continue }
            let end = End(table: reference.table, column: reference.targetColumn, value: ExactName(value))
            records[end, default: []].append(record)
        }
        count += found.count
    }

    /// Returns a value as a text, so that a number equals a key with its text.
    private static func text(_ value: JSON) -> String? {
        value.string ?? value.int.map { String($0) }
            ?? (value.number != nil || value.bool != nil ? value.description : nil)
    }
}
