internal import CSQLite
package import SluiceCore

/// Writes rows of a table as JSON texts, straight from the statement: a list needs no documents in between.
///
/// One value serves one list, on the connection's thread.
package struct RecordText {
    /// A member of each record's object, in the order in which they are written.
    package enum Member: Sendable {
        /// The declared column, under a name.
        case column(PropertyName, as: PropertyName)
        /// The declared column of a time, with three digits of its second's fraction, under a name.
        case milliseconds(PropertyName, as: PropertyName)
        /// All properties without a column.
        case others
    }

    private struct Field {
        /// The column's number in the statement; nil for the properties without a column.
        var index: Int?
        var type = TableSchema.ColumnType.json
        var isTime = false
        /// `,"name":`
        var prefix: [UInt8] = []
        /// Whether null is written for it if the record lacks it.
        var isCompleted = false
        /// Its value in the row, as a text, if the column cannot hold it.
        var instead: [UInt8]?
    }

    private let table: RecordTable
    private var fields: [Field]
    /// The columns whose misfit values are kept in `_extra`: each with its JSON name, and the fields that show it.
    private let overlapping: [(name: [UInt8], fields: [Int])]
    /// Shapes a record that cannot be written column by column.
    private let whole: (JSON) -> JSON
    /// The names without a column, as JSON text, for which null is written if a record lacks them.
    private let known: [[UInt8]]
    /// For each of these names, whether the row has it.
    private var isThere: [Bool]
    /// The columns that earlier rows lacked, by the text of their `_absent`.
    private var absent: (text: [UInt8], columns: Set<Int>) = ([], [])

    /// - Parameters:
    ///   - inexact: the columns whose values may not fit their type; the values of all others do.
    ///   - completing: names for which null is written if a record lacks them, besides the columns that may be inexact;
    ///     nil to write no nulls.
    ///   - whole: shapes a record as `members` would.
    package init(
        of table: RecordTable, _ members: [Member], inexact: Set<PropertyName>, completing: [PropertyName]? = nil,
        whole: @escaping (JSON) -> JSON
    ) {
        self.table = table
        self.whole = whole
        known = (completing ?? []).map { JSON($0).bytes() }
        isThere = known.map { _ in false }
        func field(_ column: PropertyName, _ name: PropertyName, isTime: Bool) -> Field? {
            guard let index = table.schema.columns.firstIndex(where: { $0.name == column }) else { return nil }
            let prefix = ",\(JSON(name.text)):"
            return Field(
                index: index + 1, type: table.schema.columns[index].type, isTime: isTime, prefix: Array(prefix.utf8),
                isCompleted: completing != nil && inexact.contains(column))
        }
        let shown: [Field] = members.compactMap { member in
            switch member {
            case .column(let column, let name): field(column, name, isTime: false)
            case .milliseconds(let column, let name): field(column, name, isTime: true)
            case .others: Field()
            }
        }
        fields = shown
        let inexactColumns = table.schema.columns.enumerated().filter { inexact.contains($0.element.name) }
        overlapping = inexactColumns.map { place, column in
            (JSON(column.name).bytes(), shown.indices.filter { shown[$0].index == place + 1 })
        }
    }

    /// Appends the records that match, one object after the other with commas between them.
    ///
    /// - Parameters:
    ///   - most: the largest number of records.
    ///   - bytes: the largest size of all records in bytes; the first is written even if it is larger.
    /// - Returns: the number of records written, and whether there are more.
    package mutating func append(
        _ query: TableQuery, most: Int, bytes: Int, to output: inout [UInt8], on connection: SQLiteConnection
    ) throws -> (count: Int, hasMore: Bool) {
        let sql = try table.selection(query)
        let statement = try connection.statement(sql.text)
        defer { statement.reset() }
        try statement.bind(sql.values)
        var count = 0
        let first = output.count
        while try statement.step() {
            if count == most { return (count, true) }
            let end = output.count
            if count > 0 { output.append(UInt8(ascii: ",")) }
            let start = output.count
            if try !appendRow(statement, to: &output) {
                output.removeSubrange(start...)
                output += try whole(table.record(statement)).bytes()
            }
            if count > 0, output.count - first > bytes {
                output.removeSubrange(end...)
                return (count, true)
            }
            count += 1
        }
        return (count, false)
    }

    /// Appends the statement's row; returns false if the row has to be read as a whole.
    private mutating func appendRow(_ statement: SQLiteStatement, to output: inout [UInt8]) throws -> Bool {
        let others = table.extraParameter - 1
        let hasOthers = !statement.isNull(others)
        guard try readAbsent(statement) else { return false }
        guard let overlaps = hasOthers ? readOverlaps(statement, others) : false else { return false }
        defer { if overlaps { for index in fields.indices { fields[index].instead = nil } } }
        output.append(contentsOf: #"{"id":"#.utf8)
        statement.withText(0) { JSONEscape.append($0, to: &output) }
        for field in fields {
            guard let index = field.index else {
                if hasOthers {
                    statement.withText(others) { appendMembers($0, without: overlaps, to: &output) }
                }
                if !absent.columns.isEmpty || !known.isEmpty { complete(statement, others, &output) }
                continue
            }
            if !absent.columns.isEmpty, absent.columns.contains(index) { continue }
            output.append(contentsOf: field.prefix)
            if let value = field.instead {
                output.append(contentsOf: value)
            } else {
                guard Self.append(statement, index, field, to: &output) else { return false }
            }
        }
        output.append(UInt8(ascii: "}"))
        return true
    }

    /// Reads the values that did not fit their columns. Returns whether there are some; nil if the row has to be read
    /// as a whole.
    private mutating func readOverlaps(_ statement: SQLiteStatement, _ others: Int) -> Bool? {
        if overlapping.isEmpty { return false }
        var isThere = false
        var isTime = false
        statement.withText(others) { text in
            ObjectText.forEachMember(text) { name, value in
                guard let overlap = overlapping.first(where: { name.elementsEqual($0.name) }) else { return }
                isThere = true
                for index in overlap.fields {
                    isTime = isTime || fields[index].isTime
                    fields[index].instead = Array(value)
                }
            }
        }
        if isTime {
            for index in fields.indices { fields[index].instead = nil }
            return nil
        }
        return isThere
    }

    /// Appends null for completed members that the record lacks.
    private mutating func complete(_ statement: SQLiteStatement, _ others: Int, _ output: inout [UInt8]) {
        for field in fields where field.isCompleted && field.index.map(absent.columns.contains) == true {
            output.append(contentsOf: field.prefix)
            output.append(contentsOf: "null".utf8)
        }
        if known.isEmpty { return }
        for index in isThere.indices { isThere[index] = false }
        var next = 0
        statement.withText(others) { text in
            ObjectText.forEachMember(text) { name, _ in
                // Most records have the same names in the same order.
                let index =
                    next < known.count && name.elementsEqual(known[next])
                    ? next : known.firstIndex { name.elementsEqual($0) }
                guard let index else { return }
                isThere[index] = true
                next = index + 1
            }
        }
        for (index, name) in known.enumerated() where !isThere[index] {
            output.append(UInt8(ascii: ","))
            output.append(contentsOf: name)
            output.append(contentsOf: ":null".utf8)
        }
    }

    /// Reads the columns that the record lacks: mostly the same as for the record before.
    private mutating func readAbsent(_ statement: SQLiteStatement) throws -> Bool {
        let column = table.absentParameter - 1
        if statement.isNull(column) {
            absent = ([], [])
            return true
        }
        let known = absent.text
        let isKnown = statement.withText(column) { $0.elementsEqual(known) } ?? false
        if isKnown { return true }
        let text = statement.withText(column) { Array($0) } ?? []
        guard let names = try? JSON(parsing: text).elements else { return false }
        var columns: Set<Int> = []
        for (index, column) in table.schema.columns.enumerated() where names.contains(JSON(column.name)) {
            columns.insert(index + 1)
        }
        absent = (text, columns)
        return true
    }

    /// Appends the value; returns false if the column does not hold its declared type.
    private static func append(
        _ statement: SQLiteStatement, _ index: Int, _ field: Field, to output: inout [UInt8]
    ) -> Bool {
        switch (field.type, statement.columnType(index)) {
        case (_, Int32(CSQLITE_NULL)): output.append(contentsOf: "null".utf8)
        case (.date, Int32(CSQLITE_TEXT)) where field.isTime:
            return statement.withText(index) { appendMilliseconds($0, to: &output) } ?? false
        case (.string, Int32(CSQLITE_TEXT)), (.date, Int32(CSQLITE_TEXT)):
            statement.withText(index) { JSONEscape.append($0, to: &output) }
        case (.json, Int32(CSQLITE_TEXT)): statement.withText(index) { output.append(contentsOf: $0) }
        case (.integer, Int32(CSQLITE_INTEGER)), (.real, Int32(CSQLITE_INTEGER)):
            append(statement.int(index), to: &output)
        case (.real, Int32(CSQLITE_FLOAT)):
            let double = statement.double(index)
            if let whole = RecordColumns.wholeNumber(double) {
                append(whole, to: &output)
            } else {
                output.append(contentsOf: JSON(double).description.utf8)
            }
        case (.boolean, Int32(CSQLITE_INTEGER)):
            output.append(contentsOf: (statement.int(index) == 0 ? "false" : "true").utf8)
        default: return false
        }
        return true
    }

    private static func append(_ integer: Int64, to output: inout [UInt8]) {
        // The digits, last one first.
        var rest = integer.magnitude
        var digits: UInt64 = 1
        while rest / digits >= 10 { digits *= 10 }
        if integer < 0 { output.append(UInt8(ascii: "-")) }
        while digits > 0 {
            output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / digits))
            rest %= digits
            digits /= 10
        }
    }

    /// Appends a time in the stored form, `2026-11-21T09:30:00.1234567Z`, with the last digits cut off; returns false
    /// for another form.
    private static func appendMilliseconds(_ text: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) -> Bool {
        guard text.count == 28, text[19] == UInt8(ascii: "."), text[27] == UInt8(ascii: "Z") else { return false }
        output.append(UInt8(ascii: "\""))
        output.append(contentsOf: text[..<23])
        output.append(contentsOf: #"Z""#.utf8)
        return true
    }

    /// Appends the members of an object's text, `,"a":1`, except those that are written in place of a column.
    private func appendMembers(
        _ text: UnsafeBufferPointer<UInt8>, without overlaps: Bool, to output: inout [UInt8]
    ) {
        guard text.count > 2 else { return }
        guard overlaps else {
            output.append(UInt8(ascii: ","))
            output.append(contentsOf: text[1..<(text.count - 1)])
            return
        }
        ObjectText.forEachMember(text) { name, value in
            if overlapping.contains(where: { name.elementsEqual($0.name) }) { return }
            output.append(UInt8(ascii: ","))
            output.append(contentsOf: name)
            output.append(UInt8(ascii: ":"))
            output.append(contentsOf: value)
        }
    }
}

/// Reads an object's text, as the store has written it, without creating documents.
enum ObjectText {
    /// Calls `body` with the members of an object's text: the names with their quotes, and the values.
    static func forEachMember(
        _ text: UnsafeBufferPointer<UInt8>,
        _ body: (_ name: UnsafeBufferPointer<UInt8>.SubSequence, _ value: UnsafeBufferPointer<UInt8>.SubSequence) ->
            Void
    ) {
        var (index, depth) = (0, 0)
        var name: UnsafeBufferPointer<UInt8>.SubSequence?
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\""):
                var end = index + 1
                while end < text.count, text[end] != UInt8(ascii: "\"") {
                    end += text[end] == UInt8(ascii: "\\") ? 2 : 1
                }
                guard end < text.count else { return }
                if depth == 1, name == nil { name = text[index...end] }
                index = end
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "}") where depth > 1: depth -= 1
            case UInt8(ascii: ","), UInt8(ascii: "}"):
                guard depth == 1, let ended = name, ended.endIndex < index else { break }
                body(ended, text[(ended.endIndex + 1)..<index])
                name = nil
            default: break
            }
            index += 1
        }
    }
}
