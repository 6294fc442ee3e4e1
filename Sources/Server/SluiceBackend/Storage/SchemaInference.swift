internal import SluiceCore

/// Infers columns from a table's first records.
enum SchemaInference {
    /// The most inferred columns; further properties get none.
    private static let maximumColumns = 200

    /// Returns a column for each property with values of a single kind, in the order of their first occurrence.
    static func columns(of records: [JSON], table: String) -> [TableSchema.Column] {
        var names: [PropertyName] = []
        // Nil marks a property with values of several kinds.
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
            // A name that is invalid for a column stays a property without one.
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
