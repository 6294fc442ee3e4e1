internal import CSQLite
internal import SluiceCore

/// A column of a statement's rows.
struct SQLColumn {
    let name: String
    private let index: Int
    /// The type that the column is declared with; nil for an expression.
    private let type: TableSchema.ColumnType?

    init(_ statement: SQLiteStatement, _ index: Int, _ views: SQLViews) {
        name = statement.columnName(index)
        self.index = index
        if let origin = statement.columnOrigin(index) {
            type = views.type(of: origin.column, in: origin.table)
        } else {
            // Without the column's origin, the type that the table has in SQL tells booleans.
            type = statement.declaredType(index) == "BOOLEAN" ? .boolean : nil
        }
    }

    /// How many bytes the value has for the byte limit.
    func size(in statement: SQLiteStatement) -> Int {
        switch statement.columnType(index) {
        case Int32(CSQLITE_TEXT), Int32(CSQLITE_BLOB): statement.byteCount(index)
        default: 8
        }
    }

    /// The value in the statement's row, as the declared type says; a blob as text of hexadecimal digits.
    func value(in statement: SQLiteStatement) -> JSON {
        if let type, let value = RecordColumns.value(statement, index, type) { return value }
        switch statement.value(index) {
        case .null: return .null
        case .integer(let int): return JSON(int)
        case .real(let double): return JSON(double)
        case .text(let text): return JSON(text)
        case .blob(let bytes): return JSON(Base16.text(bytes))
        }
    }
}
