internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Converts the values of declared columns to SQL and back.
enum RecordColumns {
    /// The type that the column is declared with. A real column has none, so that SQLite converts nothing in it.
    static func declaration(_ type: TableSchema.ColumnType) -> String {
        switch type {
        case .string, .date, .json: " TEXT"
        case .integer: " INTEGER"
        case .boolean: " BOOLEAN"
        case .real: ""
        }
    }

    /// The integers that a real column stores exactly: beyond these, a double skips integers.
    static let exactIntegers: ClosedRange<Int64> = -(1 << 53)...(1 << 53)

    /// Whether the column alone returns the value as it was written; if not, the value is kept as text beside it.
    ///
    /// A whole number in a real column is read as an integer, `5` and not `5.0`, because most servers write it so.
    static func isExact(_ value: JSON, _ type: TableSchema.ColumnType) -> Bool {
        switch (type, value.kind) {
        case (_, .null), (.string, .string), (.date, .string), (.boolean, .bool), (.json, .array), (.json, .object):
            return true
        case (.integer, .number), (.real, .number):
            switch value.number?.storage {
            case .int(let int): return type == .integer || exactIntegers.contains(int)
            case .double(let double): return type == .real && wholeNumber(double) == nil
            default: return false
            }
        default: return false
        }
    }

    /// Returns the integer that a double in a real column stands for.
    static func wholeNumber(_ double: Double) -> Int64? {
        guard let int = Int64(exactly: double), exactIntegers.contains(int) else { return nil }
        return int == 0 && double.sign == .minus ? nil : int
    }

    /// Returns the value in that column of a statement's row; nil if it does not have the column's type.
    static func value(_ statement: SQLiteStatement, _ index: Int, _ type: TableSchema.ColumnType) -> JSON? {
        switch (type, statement.value(index)) {
        case (_, .null): .null
        case (.string, .text(let text)), (.date, .text(let text)): JSON(text)
        case (.integer, .integer(let int)), (.real, .integer(let int)): JSON(int)
        case (.real, .real(let double)): wholeNumber(double).map { JSON($0) } ?? JSON(double)
        case (.boolean, .integer(let int)): JSON(int != 0)
        case (.json, .text(let text)):
            (try? JSON(parsing: text)).flatMap { $0.kind == .array || $0.kind == .object ? $0 : nil }
        default: nil
        }
    }
}

extension SQLiteStatement {
    /// Binds a value in its column's stored form.
    func bind(_ index: Int, _ value: ColumnValue) throws(SluiceError) {
        switch value {
        case .null: try bindNull(index)
        case .text(let text): try bind(index, text)
        case .integer(let integer): try bind(index, integer)
        case .boolean(let boolean): try bind(index, boolean ? 1 : 0 as Int64)
        case .json(let json): try bind(index, json.description)
        }
    }

    /// Binds a value in the stored form of a column of that type.
    func bind(_ index: Int, _ value: JSON, declared type: TableSchema.ColumnType) throws(SluiceError) {
        switch (type, value.kind) {
        case (.string, .string), (.date, .string):
            try check(value.withText { bindText(index, $0, copied: true) } ?? 0)
        default: try bind(index, SQLValue(value, declared: type))
        }
    }
}

/// The names of the members that have a column: `id`, then the declared ones. They are numbered from 0.
///
/// The names stand in one piece of memory, so that comparing one counts no references.
struct RecordMemberNames {
    private struct Name {
        var start: Int
        var count: Int
        var type: TableSchema.ColumnType
    }

    private let names: [Name]
    private let text: [UInt8]

    init(_ schema: TableSchema) {
        var names = [Name(start: 0, count: 2, type: .string)]
        var text = Array("id".utf8)
        for column in schema.columns {
            names.append(Name(start: text.count, count: column.name.text.utf8.count, type: column.type))
            text += column.name.text.utf8
        }
        self.names = names
        self.text = text
    }

    var count: Int { names.count }

    /// The type of the column; `string` for `id`.
    @inline(__always)
    func type(_ name: Int) -> TableSchema.ColumnType { names[name].type }

    /// Returns the number of the name, or -1.
    func find(_ key: UnsafeBufferPointer<UInt8>) -> Int {
        for name in names.indices where isSame(name, key) { return name }
        return -1
    }

    /// Returns the number of the name, or -1.
    func find(_ key: String) -> Int {
        var key = key
        return key.withUTF8 { find($0) }
    }

    @inline(__always)
    func isSame(_ name: Int, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
        let name = names[name]
        guard name.count == key.count, let start = key.baseAddress else { return name.count == key.count }
        return text.withUnsafeBufferPointer { text in
            text.baseAddress.map { memcmp($0 + name.start, start, name.count) == 0 } ?? true
        }
    }
}
