internal import SluiceBase

/// The tables that a store knows, by their names.
struct StoreSchemas: Sendable {
    let all: [TableSchema]
    private let byName: [String: TableSchema]

    init(_ tables: [TableSchema]) {
        all = tables
        byName = Dictionary(tables.map { ($0.name, $0) }) { $1 }
    }

    /// The table of that name; one that was not declared has columns of any kind.
    subscript(table: String) -> TableSchema { byName[table] ?? TableSchema(table) }

    /// Whether the table was declared.
    func has(_ table: String) -> Bool { byName[table] != nil }

    /// The name as the tables have it, where it is written in other letters' case.
    func spelled(_ name: String) -> String {
        if byName[name] != nil { return name }
        let others = all.filter { $0.name.lowercased() == name.lowercased() }
        return others.count == 1 ? others[0].name : name
    }

    /// The navigation property of a table.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` where the table has none of that name.
    func reference(_ name: PropertyName, of table: String) throws(SluiceError) -> TableSchema.Reference {
        guard let reference = self[table].reference(name) else {
            throw SluiceError(
                .invalidQuery, "\(table) has no navigation property \(name); declare it as a reference of the table",
                table: table)
        }
        return reference
    }
}
