internal import SluiceBase

/// The tables that a store knows, by their names.
struct StoreSchemas: Sendable {
    let all: [TableSchema]
    /// The known names of the service's functions and actions.
    let operations: Set<String>
    private let byName: [String: TableSchema]

    init(_ tables: [TableSchema], operations: [String] = []) {
        all = tables
        self.operations = Set(operations)
        byName = Dictionary(tables.map { ($0.name, $0) }) { $1 }
    }

    /// The table of that name; an undeclared one has columns of any kind.
    subscript(table: String) -> TableSchema { byName[table] ?? TableSchema(table) }

    /// Whether the table was declared.
    func has(_ table: String) -> Bool { byName[table] != nil }

    /// Returns the name in the tables' spelling, if it differs in letters' case.
    func spelled(_ name: String) -> String {
        if byName[name] != nil { return name }
        let others = all.filter { $0.name.lowercased() == name.lowercased() }
        return others.count == 1 ? others[0].name : name
    }

    /// Returns the navigation property of a table, also in letters of another case if no column has exactly that name;
    /// nil if there is none.
    func link(_ name: PropertyName, of table: String) -> TableSchema.Reference? {
        let schema = self[table]
        if let reference = schema.reference(name) { return reference }
        guard name != "id", schema.column(name) == nil else { return nil }
        let others = schema.references.filter { $0.name.text.lowercased() == name.text.lowercased() }
        return others.count == 1 ? others[0] : nil
    }

    /// Returns the expansions with the tables' spelling of navigation properties.
    func spelled(_ items: [ODataOptions.ExpandItem], of table: String, depth: Int = 0) -> [ODataOptions.ExpandItem] {
        guard depth < Expansion.maximumDepth else { return items }
        return items.map { item in
            guard let reference = item.name.flatMap({ link($0, of: table) }) else { return item }
            var spelled = item
            spelled.path = [.property(reference.name)]
            spelled.options.expand = self.spelled(item.options.expand, of: reference.table, depth: depth + 1)
            return spelled
        }
    }

    /// Returns the navigation property of a table.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` if the table has none of that name.
    func reference(_ name: PropertyName, of table: String) throws(SluiceError) -> TableSchema.Reference {
        guard let reference = link(name, of: table) else {
            throw SluiceError(
                .invalidQuery, "\(table) has no navigation property \(name); declare it as a reference of the table",
                table: table)
        }
        return reference
    }
}
