internal import SluiceCore
internal import SluicePostgres

/// Converts the values of declared columns to PostgreSQL and back.
enum PostgresColumns {
    /// Returns the SQL type of a column. Texts are compared by their bytes, as in queries.
    static func declaration(_ type: TableSchema.ColumnType) -> String {
        switch type {
        case .string: "text COLLATE \"C\""
        case .integer: "bigint"
        case .real: "double precision"
        case .boolean: "boolean"
        case .date: "timestamptz"
        case .json: "jsonb"
        }
    }

    /// Returns the expression that selects a column: a time as its microseconds since 1970, in any time zone of the
    /// session.
    static func selected(_ quoted: String, _ type: TableSchema.ColumnType) -> String {
        type == .date ? "(extract(epoch FROM \(quoted)) * 1000000)::bigint" : quoted
    }

    /// The range of exact integers in a real column: beyond it a double skips integers.
    static let exactIntegers: ClosedRange<Int64> = -(1 << 53)...(1 << 53)

    /// Returns the time in a column's precision: whole microseconds.
    static func kept(_ time: Timestamp) -> Timestamp {
        let remainder = time.ticks % 10
        return Timestamp(ticks: time.ticks - (remainder < 0 ? remainder + 10 : remainder))
    }

    /// Returns the column's value for a record's property, so that SQL conditions agree with the record, and whether
    /// the column alone can restore the original value. If not, the value is kept in `_extra` too.
    static func stored(_ value: JSON, _ type: TableSchema.ColumnType) -> (value: SQLValue, isExact: Bool) {
        switch (type, value.kind) {
        case (_, .null): return (.null, true)
        case (.string, .string): return (.text(value.string ?? ""), true)
        case (.boolean, .bool): return (.text(value.bool == true ? "true" : "false"), true)
        case (.json, _): return (.text(PostgresJSON.kept(value).description), true)
        case (.date, .string):
            guard let text = value.string, let time = Timestamp(text) else { return (.null, false) }
            let kept = kept(time).description
            return (.text(kept), kept == text)
        case (.integer, .number), (.real, .number):
            switch (QueryValue(value, declared: type), value.number?.storage) {
            case (.integer(let int), .int?): return (.integer(int), true)
            case (.integer(let int), _): return (.integer(int), false)
            case (.real(let double), .int(let int)?): return (.real(double), exactIntegers.contains(int))
            case (.real(let double), .double?): return (.real(double), wholeNumber(double) == nil)
            case (.real(let double), _): return (.real(double), false)
            default: return (.null, false)
            }
        default: return (.null, false)
        }
    }

    /// Reads the value in a row's column; nil for one that does not parse as the column's type.
    static func value(_ rows: PostgresResult, _ row: Int, _ column: Int, _ type: TableSchema.ColumnType) -> JSON? {
        if rows.isNull(row, column) { return .null }
        switch type {
        case .string: return rows.text(row, column).map { JSON($0) }
        case .integer: return rows.integer(row, column).map { JSON($0) }
        case .real:
            return rows.double(row, column).map { double in wholeNumber(double).map { JSON($0) } ?? JSON(double) }
        case .boolean: return JSON(rows.text(row, column) == "t")
        case .date:
            guard let microseconds = rows.integer(row, column) else { return nil }
            let (ticks, isBeyond) = microseconds.multipliedReportingOverflow(by: 10)
            return isBeyond ? nil : JSON(Timestamp(ticks: ticks).description)
        case .json: return rows.withText(row, column) { try? JSON(parsing: $0) }?.map(PostgresJSON.document)
        }
    }

    /// Returns the integer of a double in a real column.
    private static func wholeNumber(_ double: Double) -> Int64? {
        guard let int = Int64(exactly: double), exactIntegers.contains(int) else { return nil }
        return int == 0 && double.sign == .minus ? nil : int
    }
}

extension SQLDialect {
    /// Requires PostgreSQL 13 or newer.
    static let postgres: SQLDialect = {
        var dialect = SQLDialect.sqlite
        dialect.placeholder = { "$\($0)" }
        (dialect.isSame, dialect.isDifferent) = ("IS NOT DISTINCT FROM", "IS DISTINCT FROM")
        dialect.find = "strpos"
        return dialect
    }()
}

/// The form of JSON documents in `jsonb`.
///
/// `jsonb` writes numbers out: of the eight bytes `1e131071` it makes 131,072 digits. A document with such a number is
/// kept as its text, in an object with one member, so that it is restored exactly and stays small.
enum PostgresJSON {
    /// The member with the text.
    private static let wrapper: PropertyName = "sluice_json"
    /// The longest number kept as a number, in characters.
    private static let longestNumber = 1000

    /// Returns the stored form of a document.
    static func kept(_ document: JSON) -> JSON {
        // A document that looks like this form is kept as a text too, so that no one can forge it.
        guard text(document) != nil || !allNumbers(in: document, isPlain) else { return document }
        var wrapped = JSON.object
        wrapped[wrapper] = JSON(document.description)
        return wrapped
    }

    /// Returns the document of a stored form.
    static func document(_ kept: JSON) -> JSON {
        text(kept).flatMap { try? JSON(parsing: $0) } ?? kept
    }

    /// Whether `jsonb` stores the document itself in about its own size.
    static func isBounded(_ document: JSON) -> Bool {
        allNumbers(in: document) { number in
            let parts = number.lowercased().split(separator: "e", maxSplits: 1)
            let exponent = parts.count > 1 ? Int(parts[1]).map(\.magnitude) : 0
            return exponent.map { $0 < longestNumber } ?? false && number.utf8.count < longestNumber
        }
    }

    private static func text(_ document: JSON) -> String? {
        document.kind == .object && document.count == 1 ? document[wrapper]?.string : nil
    }

    /// Whether `jsonb` restores the number as it is written.
    private static func isPlain(_ number: String) -> Bool {
        if number.utf8.count > longestNumber || number.contains(where: { $0 == "e" || $0 == "E" }) { return false }
        // `jsonb` has no negative zero.
        return !number.hasPrefix("-") || number.utf8.contains { (0x31...0x39).contains($0) }
    }

    private static func allNumbers(in document: JSON, _ condition: (String) -> Bool) -> Bool {
        switch document.kind {
        case .number: document.number.map { condition($0.description) } ?? true
        case .array: (document.elements ?? []).allSatisfy { allNumbers(in: $0, condition) }
        case .object: (document.members ?? []).allSatisfy { allNumbers(in: $0.value, condition) }
        case .null, .bool, .string: true
        }
    }
}
