internal import Synchronization

/// A record of another table that a database passes to the evaluator: its columns in the order of their values, the
/// names to read from the JSON object of the other properties, and the links with included records.
struct QueryRow: Sendable {
    let columns: [TableSchema.Column]
    let properties: [PropertyName]
    let links: [PropertyName]

    /// The description for a statement.
    var text: String { JSON(parts).description }

    var parts: [JSON] {
        [
            JSON(columns.map { JSON([JSON($0.name), JSON($0.type.rawValue)]) }), JSON(properties.map { JSON($0) }),
            JSON(links.map { JSON($0) }),
        ]
    }

    init(columns: [TableSchema.Column], properties: [PropertyName], links: [PropertyName] = []) {
        (self.columns, self.properties, self.links) = (columns, properties, links)
    }

    init?(_ parts: ArraySlice<JSON>) {
        guard let columns = parts.first, let properties = parts.dropFirst().first else { return nil }
        self.columns =
            columns.elements?.compactMap { column in
                guard let name = column[0]?.string, let type = column[1]?.string.flatMap(TableSchema.ColumnType.init)
                else { return nil }
                return TableSchema.Column(PropertyName(name), type)
            } ?? []
        self.properties = properties.elements?.compactMap { $0.string.map { PropertyName($0) } } ?? []
        links = parts.dropFirst(2).first?.elements?.compactMap { $0.string.map { PropertyName($0) } } ?? []
    }

    /// Returns the record. The values are the JSON object of the other properties, the columns', and the linked
    /// records'.
    func record(_ values: ArraySlice<SQLValue>) -> JSON {
        var record = JSON.object
        if case .text(let object)? = values.first {
            for name in properties {
                if let value = JSONProperty.json(of: name.text, in: object) { record[name] = value }
            }
        }
        for (column, value) in zip(columns, values.dropFirst()) {
            if let value = Self.json(value, column.type) { record[column.name] = value }
        }
        for (link, value) in zip(links, values.dropFirst(1 + columns.count)) {
            if case .text(let text) = value, let records = try? JSON(parsing: text) { record[link] = records }
        }
        return record
    }

    /// Returns a record's value for a column's SQL value.
    private static func json(_ value: SQLValue, _ type: TableSchema.ColumnType) -> JSON? {
        switch value {
        case .null, .blob: nil
        case .integer(let number): type == .boolean ? JSON(number != 0) : JSON(number)
        case .real(let number): JSON(number)
        case .text(let text): type == .json ? try? JSON(parsing: text) : JSON(text)
        }
    }

    /// Returns the text of the record of that description.
    static func text(of description: String, _ values: ArraySlice<SQLValue>) -> String? {
        let key = QueryText(description)
        if let known = cache.withLock({ $0[key] }) { return known.record(values).description }
        guard let parts = (try? JSON(parsing: description))?.elements, let row = QueryRow(parts[...]) else {
            return nil
        }
        cache.withLock { cache in
            if cache.count >= 64 { cache.removeAll() }
            cache[key] = row
        }
        return row.record(values).description
    }

    private static let cache = Mutex<[QueryText: QueryRow]>([:])
}

/// The tables of a program. The linked records are included in its record, under the names of the links.
struct EmbeddedRelations: TableQuery.Relations {
    /// The references of the record's own table.
    let references: [TableSchema.Reference]
    private let tables: [String: TableSchema]

    func schema(of table: String) -> TableSchema? { tables[table] }
    func records(of table: String, where column: PropertyName, equals value: JSON) -> [JSON] { [] }

    /// Returns the references and tables as a statement holds them.
    static func json(_ relatives: QueryRelatives, _ used: Set<String>) -> JSON {
        JSON([
            json(relatives.main.references),
            JSON(
                used.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap { name in
                    relatives.tables[name].map { table in
                        JSON([
                            JSON(name), QueryRow(columns: table.schema.columns, properties: []).parts[0],
                            json(table.schema.references),
                        ])
                    }
                }),
        ])
    }

    private static func json(_ references: [TableSchema.Reference]) -> JSON {
        JSON(
            references.map { reference in
                JSON([JSON(reference.name), JSON(reference.table), JSON(reference.isCollection)])
            })
    }

    init(_ json: JSON) {
        references = Self.references(json[0])
        tables = Dictionary(
            json[1]?.elements?.compactMap { table in
                guard let name = table[0]?.string, let columns = table[1] else { return nil }
                let row = QueryRow([columns, JSON([JSON]())])
                return (name, TableSchema(name, columns: row?.columns ?? [], references: Self.references(table[2])))
            } ?? []
        ) { first, _ in first }
    }

    private static func references(_ json: JSON?) -> [TableSchema.Reference] {
        json?.elements?.compactMap { reference in
            guard let name = reference[0]?.string, let table = reference[1]?.string else { return nil }
            // The SQL subquery has already followed the link.
            return reference[2]?.bool == true
                ? .init(PropertyName(name), toMany: table, where: "id") : .init(PropertyName(name), to: table, by: "id")
        } ?? []
    }
}
