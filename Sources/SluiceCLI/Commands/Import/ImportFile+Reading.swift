internal import Sluice

/// Reading a record, by the file's format.
extension ImportFile {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The next record of a CSV file, its line and its size in bytes.
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
                // An id is text, whatever else a column of its name may be.
                let isID = column.name == idColumn ?? "id"
                content[column.name] = try CSVColumn(name: column.name, type: isID ? nil : column.type).value(of: field)
            }
            return (content, line, size)
        }
    }

    /// The fields of the next record, and its size in bytes.
    mutating func nextFields() throws -> ([CSVParser.Field], size: Int)? {
        var size = 0
        do {
            while let line = try nextLine() {
                size += line.count
                if let fields = try parser.take(line) { return (fields, size) }
            }
            try parser.finish()
            return nil
        } catch let problem as CSVParser.Problem {
            throw Problem(line: problem.line, failure: CommandFailure(.usage, "invalidCSV", problem.reason))
        }
    }

    /// The next record of lines of JSON, its line and its size in bytes.
    func nextObject() throws -> (JSON, line: Int, size: Int)? {
        while let line = try nextLine() {
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            return try Self.at(lines.number) {
                do {
                    let content = try JSON(parsing: line)
                    guard content.kind == .object else { throw Self.refusal("a line has to be one JSON object") }
                    try CSVColumn.check(content, of: declared, idColumn: idColumn ?? "id")
                    return (content, lines.number, line.count)
                } catch let error as JSONParseError {
                    throw CommandFailure(
                        .usage, "invalidJSON", "not a JSON object on one line: \(error.reason) (column \(error.column))"
                    )
                }
            }
        }
        return nil
    }

    private func nextLine() throws -> [UInt8]? {
        let line: [UInt8]?
        do {
            line = try lines.nextBytes()
        } catch {
            throw Problem(line: lines.number, failure: CommandFailure(error))
        }
        guard lines.number == 1, let line, line.starts(with: Self.byteOrderMark) else { return line }
        return Array(line.dropFirst(Self.byteOrderMark.count))
    }
}
