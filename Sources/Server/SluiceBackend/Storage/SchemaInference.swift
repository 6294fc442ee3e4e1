internal import SluiceCore

/// Finds the columns that a table's first records show.
enum SchemaInference {
    /// More properties than this get no column of their own.
    private static let maximumColumns = 200

    /// A column for each property whose values are all of one kind, in the order in which the records show them.
    static func columns(of records: [JSON], table: String) -> [TableSchema.Column] {
        var names: [PropertyName] = []
        // Nil: a property whose values are of several kinds.
        var types: [PropertyName: TableSchema.ColumnType?] = [:]
        for record in records {
            for (name, value) in record.members ?? [] where name != "id" && !SystemColumn.all.contains(name) {
                guard let type = type(of: value) else { continue }
                guard let known = types[name] else {
                    names.append(name)
                    types[name] = .some(type)
                    continue
                }
                if let known, known != type { types[name] = .some(merged(known, type)) }
            }
        }
        var schema = TableSchema(table, columns: SystemColumn.declared)
        var columns: [TableSchema.Column] = []
        for name in names.prefix(maximumColumns) {
            guard let type = types[name] ?? nil else { continue }
            // A name that no column may have stays among the properties without one.
            let wanted = TableSchema(table, columns: [.init(name, type)])
            guard let extended = try? StoreRules.merge(wanted, into: schema), extended != schema else { continue }
            schema = extended
            columns.append(.init(name, type))
        }
        return columns
    }

    private static func type(of value: JSON) -> TableSchema.ColumnType? {
        switch value.kind {
        case .null: nil
        case .bool: .boolean
        case .number: if case .int? = value.number?.storage { .integer } else { .real }
        case .string: .string
        case .array, .object: .json
        }
    }

    private static func merged(
        _ left: TableSchema.ColumnType, _ right: TableSchema.ColumnType
    ) -> TableSchema.ColumnType? {
        Set([left, right]) == [.integer, .real] ? .real : nil
    }
}
