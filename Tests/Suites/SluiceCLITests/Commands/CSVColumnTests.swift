import Sluice
import Testing

@testable import SluiceCLI

@Suite struct CSVColumnTests {
    private typealias Field = CSVParser.Field

    private func value(_ text: String, _ type: TableSchema.ColumnType?, isQuoted: Bool = false) -> JSON? {
        try? CSVColumn(name: "c", type: type).value(of: Field(text: text, isQuoted: isQuoted))
    }

    @Test(
        "a field becomes what its column is declared as",
        arguments: [
            ("007", nil, #""007""#), ("007", .string, #""007""#), ("-12", .integer, "-12"),
            ("9223372036854775807", .integer, "9223372036854775807"), ("1.10", .real, "1.10"),
            ("12345678901234567.89", .real, "12345678901234567.89"), ("TRUE", .boolean, "true"),
            ("0", .boolean, "false"),
            ("2024-02-29", .date, #""2024-02-29""#),
            ("2024-01-02T03:04:05+02:00", .date, #""2024-01-02T03:04:05+02:00""#),
            (#"{"a":[1.50]}"#, .json, #"{"a":[1.50]}"#),
        ] as [(String, TableSchema.ColumnType?, String)])
    func values(_ text: String, _ type: TableSchema.ColumnType?, _ json: String) throws {
        let read = try #require(value(text, type, isQuoted: true))
        #expect("\(read)" == json)
    }

    @Test("an empty field is null, and an empty text only in quotes and where texts are")
    func empty() {
        for type in [nil] + TableSchema.ColumnType.allCases { #expect(value("", type)?.isNull == true) }
        #expect(value("", nil, isQuoted: true) == "")
        #expect(value("", .string, isQuoted: true) == "")
        for type: TableSchema.ColumnType in [.integer, .real, .boolean, .date, .json] {
            #expect(value("", type, isQuoted: true) == nil)
        }
    }

    @Test(
        "a field that does not fit is told with column and value",
        arguments: [
            ("1.5", .integer), ("9223372036854775808", .integer), (" 5", .integer), ("+5", .integer), ("007", .integer),
            ("1e99999999999999999999", .integer), ("0x10", .integer), ("five", .integer), ("1,5", .real),
            ("1e400", .real), ("nan", .real), ("inf", .real), ("yes", .boolean), ("2024-02-30", .date),
            ("02/03/2024", .date), ("{", .json), ("{} {}", .json),
        ] as [(String, TableSchema.ColumnType)])
    func refused(_ text: String, _ type: TableSchema.ColumnType) throws {
        let column = CSVColumn(name: "size", type: type)
        let failure = #expect(throws: CommandFailure.self) { try column.value(of: Field(text: text)) }
        let message = try #require(failure?.message)
        #expect(message.hasPrefix("column size: \"\(text)\" is no "), "\(message)")
    }

    @Test("a long value is cut, and control characters reach no terminal")
    func long() throws {
        let column = CSVColumn(name: "size", type: .integer)
        let text = "\u{1B}[31m" + String(repeating: "x", count: 1 << 20)
        let failure = #expect(throws: CommandFailure.self) { try column.value(of: Field(text: text)) }
        let message = try #require(failure?.message)
        #expect(message.count < 120 && message.contains("…") && !message.contains("\u{1B}"))
    }

    @Test("names of columns are there once and not empty; the forms of a letter are two names")
    func header() throws {
        let table = TableSchema("t", columns: [.init("n", .integer)])
        let columns = try CSVColumn.read([Field(text: "n"), Field(text: "é"), Field(text: "e\u{301}")], of: table)
        #expect(columns.map(\.type) == [.integer, nil, nil])
        #expect(throws: CommandFailure.self) { try CSVColumn.read([Field(text: "a"), Field(text: "a")], of: nil) }
        for name in ["N", "Deleted", "a\u{A0}", "\u{2003}a"] {
            #expect(throws: CommandFailure.self, "\(name)") {
                try CSVColumn.read([Field(text: name)], of: table, beside: ["deleted"])
            }
        }
        #expect(throws: CommandFailure.self) { try CSVColumn.read([Field(text: "", isQuoted: true)], of: nil) }
    }
}
