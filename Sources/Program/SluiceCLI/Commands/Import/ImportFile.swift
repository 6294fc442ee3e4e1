internal import Sluice

/// The records of a CSV or JSON Lines file, one at a time.
struct ImportFile {
    enum Format: String, CaseIterable { case csv, jsonl }

    /// A record of the file.
    struct Record: Sendable {
        /// The record's first line, counted from 1.
        var line: Int
        /// The record's own id, or a new one.
        var id: RecordID
        var hasOwnID: Bool
        /// The properties, including the id.
        var content: JSON
        /// The size in the file in bytes.
        var size: Int
    }

    /// A problem with the file or with writing its records, with its line.
    struct Problem: Error {
        /// Counted from 1; nil if it belongs to no line of the file.
        var line: Int?
        var failure: CommandFailure
    }

    private static let longest = 16 << 20

    /// The file's name in messages.
    var name: String { lines.name }
    let format: Format
    /// The property that becomes the id; nil for `id`, if it exists.
    let idColumn: PropertyName?
    /// Whether a record must have an id.
    let needsID: Bool
    let lines: FileLines
    var parser: CSVParser
    private(set) var columns: [CSVColumn] = []
    /// The table's declaration, for lines of JSON.
    private(set) var declared: TableSchema?

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - path: the file's, or - for standard input.
    ///   - format: nil to infer it from the file's name.
    ///   - separator: the separator of CSV fields; nil for the comma.
    /// - Throws: ``CommandFailure`` for a file that cannot be read or whose format is unknown.
    init(
        _ path: String, format: Format?, separator: CSVSeparator? = nil, idColumn: PropertyName?, needsID: Bool
    ) throws {
        guard let format = format ?? Self.format(of: path) else {
            throw CommandFailure.usage(
                path == "-"
                    ? "--format csv or --format jsonl has to say what standard input is"
                    : "\(Plain.line(path)) does not tell what it is: give --format csv or --format jsonl")
        }
        guard separator == nil || format == .csv else {
            throw CommandFailure.usage("--separator is for CSV, and lines of JSON have none")
        }
        if let idColumn, idColumn.text.isEmpty || idColumn.text.utf8.contains(0) {
            throw CommandFailure.usage("--id needs the name of a column")
        }
        lines = try FileLines(path, longest: Self.longest)
        parser = CSVParser(separator: (separator ?? .comma).byte, longest: Self.longest)
        (self.format, self.idColumn, self.needsID) = (format, idColumn, needsID)
    }

    private static func format(of path: String) -> Format? {
        guard path != "-", let dot = path.lastIndex(of: ".") else { return nil }
        switch path[path.index(after: dot)...].lowercased() {
        case "csv": return .csv
        case "jsonl", "ndjson", "json": return .jsonl
        default: return nil
        }
    }

    /// Reads the header of a CSV file, and keeps the declaration for checking values.
    ///
    /// - Parameters:
    ///   - table: the table's declaration.
    ///   - system: the properties that only the server sets.
    /// - Throws: ``Problem``.
    mutating func begin(_ table: TableSchema?, beside system: Set<PropertyName>) throws {
        declared = table
        guard format == .csv else { return }
        guard let (header, _) = try nextFields() else {
            throw Problem(line: nil, failure: Self.refusal("\(name) is empty: its first line names the columns"))
        }
        try Self.at(parser.recordLine) {
            columns = try CSVColumn.read(header, of: table, beside: system.union([idColumn ?? "id"]))
            guard let idColumn else { return }
            let names = Set(columns.map(\.name))
            guard names.contains(idColumn) else {
                throw Self.refusal("there is no column \(CSVColumn.cut(idColumn.text))")
            }
            guard idColumn == "id" || !names.contains("id") else { throw twoIDs(idColumn) }
        }
    }

    /// Returns the next record; nil after the last.
    ///
    /// - Parameter makeID: generates an id for a record without one.
    /// - Throws: ``Problem``.
    mutating func next(_ makeID: () -> String) throws -> Record? {
        guard let (content, line, size) = try format == .csv ? nextRow() : nextObject() else { return nil }
        return try Self.at(line) {
            var content = content
            let id = try takeID(from: &content)
            let known = id ?? RecordID(makeID())
            content["id"] = JSON(known)
            return Record(line: line, id: known, hasOwnID: id != nil, content: content, size: size)
        }
    }

    private func takeID(from content: inout JSON) throws -> RecordID? {
        let column = idColumn ?? "id"
        if column != "id", content["id"] != nil { throw twoIDs(column) }
        let value = content[column] ?? .null
        if value.isNull {
            guard idColumn == nil, !needsID else {
                throw Self.refusal("the record has no \(CSVColumn.cut(column.text)), which is to be its id")
            }
            return nil
        }
        if column != "id" { content[column] = nil }
        if let id = value.textID { return id }
        guard idColumn != nil, let number = value.number else {
            throw Self.refusal(
                idColumn == nil && value.kind == .number
                    ? "a record's id is a string; --id id takes a number as one" : "a record's id is a string")
        }
        return RecordID(number.description)
    }

    /// Runs a step that may fail because of the content of that line.
    static func at<Result>(_ line: Int, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw Problem(line: line, failure: CommandFailure(error))
        }
    }

    private func twoIDs(_ column: PropertyName) -> CommandFailure {
        Self.refusal("there is an id besides \(CSVColumn.cut(column.text)), which is to be the record's id")
    }

    static func refusal(_ message: String) -> CommandFailure {
        CommandFailure(.usage, "invalidRecord", message)
    }
}

/// Reading a record, by the file's format.
extension ImportFile {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// Those of UTF-16, which spreadsheets write as “Unicode text”.
    private static let wideMarks: [[UInt8]] = [[0xFF, 0xFE], [0xFE, 0xFF]]

    /// Returns the next record of a CSV file, its line and its size in bytes.
    mutating func nextRow() throws -> (JSON, line: Int, size: Int)? {
        guard let (fields, size) = try nextFields() else { return nil }
        let line = parser.recordLine
        return try Self.at(line) {
            guard fields.count == columns.count else {
                throw Self.refusal(
                    "the record has \(Plain.count(fields.count, "field")), and the header names "
                        + Plain.count(columns.count, "column"))
            }
            var content = JSON.object
            for (column, field) in zip(columns, fields) {
                // An id is text, even if a column of its name has another type.
                let isID = column.name == idColumn ?? "id"
                content[column.name] = try CSVColumn(name: column.name, type: isID ? nil : column.type).value(of: field)
            }
            return (content, line, size)
        }
    }

    /// Returns the fields of the next record, and its size in bytes.
    mutating func nextFields() throws -> ([CSVParser.Field], size: Int)? {
        var size = 0
        do {
            while let line = try nextLine() {
                size += line.count
                guard let fields = try parser.take(line) else { continue }
                // A spreadsheet writes the rows below its table as separators alone.
                if fields.allSatisfy({ $0.text.isEmpty && !$0.isQuoted }) { continue }
                return (fields, size)
            }
            try parser.finish()
            return nil
        } catch let problem as CSVParser.Problem {
            throw Problem(line: problem.line, failure: CommandFailure(.usage, "invalidCSV", problem.reason))
        }
    }

    /// Returns the next record of lines of JSON, its line and its size in bytes.
    func nextObject() throws -> (JSON, line: Int, size: Int)? {
        while let line = try nextLine() {
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            return try Self.at(lines.number) {
                do {
                    var content = try JSON(parsing: line)
                    guard content.kind == .object else { throw Self.refusal("a line has to be one JSON object") }
                    if content.count == 2, content["items"]?.kind == .array, content["count"]?.kind == .number {
                        throw Self.refusal(
                            "this is the answer of sluice query --json: give its items, one on a line (jq -c '.items[]')"
                        )
                    }
                    content = Self.unfolded(content)
                    try CSVColumn.check(content, of: declared, idColumn: idColumn ?? "id")
                    return (content, lines.number, line.count)
                } catch let error as JSON.ParseError {
                    throw CommandFailure(
                        .usage, "invalidJSON", "not a JSON object on one line: \(error.reason) (column \(error.column))"
                    )
                }
            }
        }
        return nil
    }

    /// Returns the record of a line that `sluice sql --json` may have printed: the members of `_extra` are properties of
    /// it. Of a column that cannot hold a value exactly, `_extra` has the exact one; a column that shows another value was
    /// edited since.
    private static func unfolded(_ line: JSON) -> JSON {
        let extra = PropertyName("_extra")
        guard let value = line[extra], value.isNull || value.kind == .object else { return line }
        var record = line
        record[extra] = nil
        for (name, member) in value.members ?? [] where line[name].map({ shows($0, member) }) ?? true {
            record[name] = member
        }
        return record
    }

    /// Whether a column shows this for the exact value.
    private static func shows(_ shown: JSON, _ exact: JSON) -> Bool {
        if shown.isNull || shown == exact { return true }
        if let shown = shown.number, let exact = exact.number { return shown.double == exact.double }
        if let shown = shown.bool, let exact = exact.number { return exact.double == (shown ? 1 : 0) }
        if let shown = shown.string, let exact = exact.string {
            return Timestamp(shown).map { $0 == Timestamp(exact) } ?? false
        }
        return false
    }

    private func nextLine() throws -> [UInt8]? {
        let line: [UInt8]?
        do {
            line = try lines.nextBytes()
        } catch {
            throw Problem(line: lines.number, failure: CommandFailure(error))
        }
        guard lines.number == 1, let line else { return line }
        if Self.wideMarks.contains(where: line.starts) {
            throw Problem(line: 1, failure: Self.refusal("the file is UTF-16; save it as UTF-8"))
        }
        guard line.starts(with: Self.byteOrderMark) else { return line }
        return Array(line.dropFirst(Self.byteOrderMark.count))
    }
}
