internal import SluiceBase

/// The names that a format gives to tables and columns, and the forms of its values.
struct FormatNames {
    let format: OldStoreFormat
    let evidence: NameEvidence
    private let file: OldFile
    /// The names of Core Data's entities, by their tables.
    private var entities: [String: String] = [:]

    init(_ format: OldStoreFormat, _ file: OldFile, _ queue: OldQueue) throws {
        (self.format, self.file, evidence) = (format, file, NameEvidence(queue))
        guard format == .ios else { return }
        for row in try file.rows(of: "Z_PRIMARYKEY", by: "\"Z_ENT\"") {
            let name = try row.required("Z_NAME")
            entities["Z" + name.uppercased()] = name
            if file.has("Z" + name.uppercased()), row.integer("Z_SUPER") ?? 0 != 0 {
                throw SluiceError(.unsupported, "the entity \(name) inherits from another one", table: name)
            }
        }
    }

    /// Returns the server's name of an old table; nil where the file does not tell its spelling.
    func table(_ table: String) -> String? {
        switch format {
        case .net, .datasync, .javascript: table
        case .toolkit: evidence.table(ofEntityIn: table)
        case .android: evidence.table(table) ?? (table.contains { $0.isUppercase } ? table : nil)
        case .ios: entities[table]
        }
    }

    /// The column with the id.
    var id: String {
        switch format {
        case .toolkit: "Id"
        case .ios: "ZID"
        default: "id"
        }
    }

    /// Returns the name of a column's property without the format's additions; nil for a column that is none.
    func plain(_ column: String) -> String? {
        switch format {
        case .toolkit: Self.camelCase(column)
        case .ios:
            ["Z_PK", "Z_ENT", "Z_OPT"].contains(column)
                ? nil : column.hasPrefix("Z") ? String(column.dropFirst()) : column
        default: column
        }
    }

    /// Whether names of columns have lost their case.
    var isCaseless: Bool { format == .android || format == .ios }

    /// Returns the form of a column's values; nil where neither the file nor the declaration tells it.
    ///
    /// - Parameters:
    ///   - isTime: whether the property is one of the server's times.
    ///   - isMark: whether it is the server's mark of deleted records.
    func form(
        of column: OldColumn, in table: String, declared: TableSchema.ColumnType?, seen: JSON.Kind?, isTime: Bool,
        isMark: Bool
    ) throws -> ColumnForm? {
        switch format {
        case .net, .datasync: return netForm(column.type)
        case .toolkit: return try toolkitForm(column, table, isTime ? .date : isMark ? .boolean : declared)
        case .javascript, .android, .ios:
            if isMark { return .boolean }
            if column.type == "TIMESTAMP" { return .secondsSince2001 }
            if column.type == "BLOB" { return .bytes }
            if isTime || declared == .date { return format == .javascript ? .milliseconds : .timeText }
            if let declared { return form(declared) }
            return try guessed(column, table, seen)
        }
    }

    private func form(_ declared: TableSchema.ColumnType) -> ColumnForm {
        switch declared {
        case .string: .text
        case .integer: .integer
        case .real: .number
        case .boolean: .boolean
        case .json: .json
        case .date: .timeText
        }
    }

    private func netForm(_ type: String) -> ColumnForm? {
        switch type {
        case "TEXT", "GUID", "URI", "TIMESPAN", "BLOB": .text
        case "BOOLEAN": .boolean
        case "INTEGER": .integer
        case "FLOAT": .number
        case "DATETIME": format == .net ? .seconds : .milliseconds
        case "JSON": .json
        default: nil
        }
    }

    /// EF Core's types. A text may be a GUID or a time, which are recognised by EF Core's own spelling in every row.
    private func toolkitForm(
        _ column: OldColumn, _ table: String, _ declared: TableSchema.ColumnType?
    ) throws -> ColumnForm? {
        switch (column.type, declared) {
        case ("BLOB", _): return .bytes
        case ("REAL", _): return .number
        case ("INTEGER", .boolean?): return .boolean
        case ("INTEGER", .integer?), ("INTEGER", .real?): return .integer
        case ("INTEGER", _): return try file.any(table, column.name, "$ NOT NULL") ? nil : .integer
        case ("TEXT", .string?): return .text
        case ("TEXT", .json?): return .json
        case ("TEXT", .real?), ("TEXT", .integer?): return .number
        case ("TEXT", _):
            var (isTime, hasOffset, isGUID, count) = (true, true, true, 0)
            try file.forEachRow(of: table) { row in
                guard let text = row.text(column.name) else { return }
                count += 1
                isTime = isTime && ColumnForm.isEFTime(text)
                hasOffset = hasOffset && ColumnForm.hasOffset(text)
                isGUID = isGUID && text.isGUID && text == text.uppercased()
            }
            if count == 0 { return .text }
            return isTime ? hasOffset ? .offsetTime : .localTime : declared == .date ? nil : isGUID ? .guid : .text
        default: return nil
        }
    }

    /// Nothing is guessed from numbers: 0 and 1 may be false and true, and a whole number a time.
    private func guessed(_ column: OldColumn, _ table: String, _ seen: JSON.Kind?) throws -> ColumnForm? {
        switch column.type {
        case "REAL", "FLOAT": return .number
        case "INTEGER":
            if format != .javascript, seen == .bool { return .boolean }
            if format != .javascript, seen == .number { return .integer }
            return try file.any(table, column.name, "$ NOT NULL") ? nil : .integer
        case "TEXT", "VARCHAR":
            if seen == .object || seen == .array { return .json }
            if seen == .string { return .text }
            let isOpen = try file.any(table, column.name, "substr($, 1, 1) IN ('{', '[', '\"')")
            return isOpen ? nil : .text
        default: return nil
        }
    }

    /// Returns a name as System.Text.Json spells it: the capitals at its beginning are small, but for the last one before
    /// a small letter.
    static func camelCase(_ name: String) -> String {
        var letters = Array(name)
        for index in letters.indices {
            guard letters[index].isUppercase else { break }
            if index > 0, index + 1 < letters.count, !letters[index + 1].isUppercase { break }
            letters[index] = Character(letters[index].lowercased())
        }
        return String(letters)
    }
}

extension NameEvidence {
    /// Returns the name of the entity whose set has that table: EF Core names it as the set, which is the entity's name
    /// or its plural.
    func table(ofEntityIn table: String) -> String? {
        let found = entities.filter { entity in
            let name = entity.lowercased()
            let plural = name.hasSuffix("y") ? String(name.dropLast()) + "ies" : name + "s"
            return [name, plural, name + "s", name + "es"].contains(table.lowercased())
        }
        return found.count == 1 ? found.first : nil
    }

    /// The last parts of the tables' names, which of an entity's type is its name.
    var entities: Set<String> { Set(tables.values.map { $0.split(separator: ".").last.map(String.init) ?? $0 }) }
}
