internal import Sluice

/// A column of an imported file, with the type of its values.
struct CSVColumn: Hashable {
    var name: PropertyName
    /// The type that the table declares; nil if it declares none.
    var type: TableSchema.ColumnType?

    /// Returns the columns of a header.
    ///
    /// - Parameter taken: the names with a meaning of their own, such as id.
    /// - Throws: ``CommandFailure`` for an empty or repeated name, for one that differs from a declared or taken name
    ///   only in the case of its letters, and for a header that is one column because the file has another separator.
    static func read(
        _ header: [CSVParser.Field], of table: TableSchema?, beside taken: Set<PropertyName> = []
    ) throws -> [CSVColumn] {
        if header.count == 1, !header[0].isQuoted, let other = CSVSeparator.other(in: header[0].text) {
            throw refusal(
                "the header is one column, and has \(other.name) in it: if these separate the columns, give --separator "
                    + "\(other.argument); if not, put the name in quotes")
        }
        let known = taken.union(table?.columns.map(\.name) ?? [])
        let folded = Dictionary(known.map { (StoreRules.folded($0.text), $0) }, uniquingKeysWith: { first, _ in first })
        var names: Set<PropertyName> = []
        for field in header {
            guard !field.text.isEmpty else { throw refusal("a column has no name") }
            // The table's column of the trimmed name, such as its id, would be left out.
            guard field.isQuoted || !Self.hasBlankEnd(field.text) else {
                throw refusal(
                    "the column name “\(cut(field.text))” has a blank at an end; take it away, or quote the name")
            }
            guard names.insert(PropertyName(field.text)).inserted else {
                throw refusal("there are two columns \(cut(field.text))")
            }
        }
        for name in header.map({ PropertyName($0.text) }) {
            guard !known.contains(name), let other = folded[StoreRules.folded(name.text)], !names.contains(other) else {
                continue
            }
            throw refusal(
                "the column \(cut(name.text)) differs from \(other) only in the case of letters: write \(other)")
        }
        return header.map { field in
            let name = PropertyName(field.text)
            return CSVColumn(name: name, type: table?.column(name)?.type)
        }
    }

    private static func hasBlankEnd(_ name: String) -> Bool {
        name.first?.isWhitespace == true || name.last?.isWhitespace == true
    }

    /// Returns the field as a value: null for an empty one without quotes.
    ///
    /// - Throws: ``CommandFailure`` with the column and the value for a field that does not fit the column's type.
    func value(of field: CSVParser.Field) throws -> JSON {
        if field.text.isEmpty, !field.isQuoted { return .null }
        guard let value = value(of: field.text) else { throw misfit("\"\(Self.cut(field.text))\"") }
        return value
    }

    /// Returns whether a mark is set. SQLite and spreadsheets write a boolean as 1, or as a text.
    ///
    /// - Throws: ``CommandFailure`` with the column and the value for anything else.
    func isSet(_ mark: JSON) throws -> Bool {
        if mark.isNull || mark.string == "" { return false }
        let text = mark.bool.map { "\($0)" } ?? mark.int.map { "\($0)" } ?? mark.string ?? ""
        guard let isSet = boolean(text)?.bool else { throw misfit(Self.cut(mark.description)) }
        return isSet
    }

    /// Refuses a value of a line of JSON that does not fit the column's type. Null fits every type.
    ///
    /// - Throws: ``CommandFailure`` with the column and the value.
    func check(_ value: JSON) throws {
        guard !value.isNull, !fits(value) else { return }
        throw misfit(Self.cut(value.description))
    }

    /// Refuses a record with a value that does not fit its column's declared type. An id is text, even if a column of
    /// its name has another type.
    ///
    /// - Throws: ``CommandFailure`` with the column and the value.
    static func check(_ record: JSON, of table: TableSchema?, idColumn: PropertyName = "id") throws {
        for column in table?.columns ?? [] where column.name != idColumn {
            guard let value = record[column.name] else { continue }
            try CSVColumn(name: column.name, type: column.type).check(value)
        }
    }

    private func fits(_ value: JSON) -> Bool {
        switch type {
        case nil, .json: true
        case .string: value.kind == .string
        case .integer: value.int != nil
        case .real: value.number.map { $0.double.isFinite } ?? false
        case .boolean: value.kind == .bool
        case .date: value.string.flatMap { Timestamp($0) } != nil
        }
    }

    private func misfit(_ value: String) -> CommandFailure {
        Self.refusal("column \(Self.cut(name.text)): \(value) is no \(word)")
    }

    private func value(of text: String) -> JSON? {
        switch type {
        case nil, .string: JSON(text)
        case .integer: JSON.Number(text: text).flatMap { $0.int == nil ? nil : JSON($0) }
        case .real: JSON.Number(text: text).flatMap { $0.double.isFinite ? JSON($0) : nil }
        case .boolean: boolean(text)
        case .date: Timestamp(text).map { _ in JSON(text) }
        case .json: try? JSON(parsing: text)
        }
    }

    /// Reads a boolean in letters of either case, as programs write both.
    private func boolean(_ text: String) -> JSON? {
        switch text.lowercased() {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    private var word: String {
        switch type {
        case .integer: "integer"
        case .real: "number"
        case .boolean: "boolean (true, false, 1 or 0)"
        case .date: "date of ISO 8601"
        case .json: "JSON"
        case nil, .string: "text"
        }
    }

    private static func refusal(_ message: String) -> CommandFailure {
        CommandFailure(.usage, "invalidRecord", message)
    }

    /// Returns the text, shortened for a message.
    static func cut(_ text: String) -> String {
        let start = text.prefix(60)
        return Plain.line(start.endIndex == text.endIndex ? text : start + "…")
    }
}
