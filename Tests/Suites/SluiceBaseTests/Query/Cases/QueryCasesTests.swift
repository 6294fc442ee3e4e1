import Foundation
import HTTPTypes
import RepositoryFiles
import SluiceCore
import SluiceSQLite
import SluiceTestSupport
import Testing

/// What the clients of each generation write for a query (Tests/Data/Fixtures/query-cases.jsonl). Rows count from 1,
/// the first being about the file.
@Suite("The clients' own queries") struct QueryCasesTests {
    private struct Row: Sendable, CustomTestStringConvertible {
        var number: Int
        var source: String
        var kind: String
        var input: String
        /// With the remarks of the rows cut off.
        var expected: String

        var testDescription: String { "row \(number)" }
    }

    private static let rows: [Row] = {
        guard let text = try? Data(contentsOf: URL(fileURLWithPath: Repository.fixture("query-cases.jsonl"))) else {
            return []
        }
        return text.split(separator: UInt8(ascii: "\n")).enumerated().dropFirst().compactMap { index, line in
            guard let row = try? JSON(parsing: Array(line)), var expected = row["expected"]?.string else { return nil }
            for remark in [" (skips add up)", " (smallest take wins)", " (order of calls", " (encodeURIComponent"] {
                if let range = expected.firstRange(of: remark) { expected = String(expected[..<range.lowerBound]) }
            }
            expected = expected.replacing("{comparison:D}", with: QueryCase.guidText)
            return Row(
                number: index + 1, source: row["src"]?.string ?? "", kind: row["what"]?.string ?? "",
                input: row["input"]?.string ?? "", expected: expected)
        }
    }()

    private static let cases = [
        QueryCase.ios, QueryCase.dotNet, QueryCase.datasync, QueryCase.version6, QueryCase.android,
        QueryCase.javaScript, QueryCase.sqlite,
    ]

    private static func dialect(of row: Row) -> Dialect {
        row.source.hasPrefix("Community") ? .datasync : row.source.hasPrefix("AMA") ? .azureV3 : .azureV2
    }

    @Test("every row of the file is held or left for a stated reason")
    func complete() {
        let numbers = Self.cases.flatMap(\.keys).sorted()
        #expect(numbers == Self.rows.map(\.number))
        #expect(numbers == Array(2...222))
    }

    @Test("the documentation lists the rows that are left, with the same reasons")
    func documented() throws {
        let text = String(
            decoding: try Data(contentsOf: URL(fileURLWithPath: Repository.record("queries-cases.md"))), as: UTF8.self)
        var left: [String] = []
        for row in Self.rows {
            let found = Self.cases.compactMap { $0[row.number] }.first
            if case .left(let reason) = found { left.append("| \(row.number) | `\(row.input)` | \(reason) |") }
            if case .refused(let text, _) = found {
                left.append("| \(row.number) | `\(row.input)` | `\(text)` is refused |")
            }
        }
        let listed = text.split(separator: "\n").filter { $0.first == "|" && $0.dropFirst(2).first?.isNumber == true }
        #expect(listed.map(String.init) == left)
    }

    @Test("a client's query is written as the client writes it, or read as the same", arguments: rows)
    private func row(_ row: Row) async throws {
        let dialect = Self.dialect(of: row)
        switch try #require(Self.cases.compactMap { $0[row.number] }.first) {
        case .exact(let term):
            #expect(term.expression.odata(dialect.odata) == Self.decoded(row))
        case .read(let term):
            #expect(try QueryExpression(odata: Self.decoded(row)) == term.expression)
            #expect(term.expression.odata(dialect.odata) != Self.decoded(row), "the row is exact")
            #expect(try QueryExpression(odata: term.expression.odata(dialect.odata)) == term.expression)
        case .query(let query):
            let endpoint = try Endpoint("http://x")
            let path = try #require(try dialect.list(table: query.table, query: query, endpoint: endpoint).head.path)
            let expected = try Self.parameters(of: row.expected, exactly: dialect.odata == .v4)
            #expect(try Self.parameters(of: path, exactly: dialect.odata == .v4) == expected)
        case .address(let address):
            // A host's letters may be small or not.
            #expect(address.lowercased() == row.expected.lowercased())
        case .refused(let text, let columns):
            let schema = TableSchema("t", columns: columns)
            #expect(throws: TableQuery.SyntaxError.self) { try QueryExpression(odata: text, for: schema) }
        case .finds(let ids):
            try await find(ids, Self.query(of: row.input))
        case .left: break
        }
    }

    /// The filter of a row, as it is before encoding.
    private static func decoded(_ row: Row) -> String {
        row.kind.contains("percent-encoded") ? PercentEncoding.decoded(row.expected) : row.expected
    }

    /// The parameters of an address or of what stands after it, sorted by name; the texts of OData in one spelling
    /// unless they must be the same exactly.
    private static func parameters(of address: String, exactly: Bool) throws -> [String] {
        var text = address[...]
        if let mark = text.firstIndex(of: "?") { text = text[text.index(after: mark)...] }
        if text.hasPrefix("| &") { text = text.dropFirst(3) }
        if text.hasPrefix("/") { return [] }
        return try text.split(separator: "&").map { part in
            let name = PercentEncoding.decoded(part.prefix { $0 != "=" })
            let value = PercentEncoding.decoded(part.drop { $0 != "=" }.dropFirst())
            if exactly { return "\(name)=\(value)" }
            switch name {
            case "$filter": return "\(name)=\(try QueryExpression(odata: value).odata(.v4))"
            case "$orderby": return "\(name)=\(try TableQuery.order(odata: value))"
            case "$select": return "\(name)=\(try TableQuery.select(odata: value))"
            default: return "\(name)=\(value)"
            }
        }.sorted()
    }

    /// The query of a row that is OData itself.
    private static func query(of input: String) throws -> TableQuery {
        var query = TableQuery("test")
        for part in input.split(separator: "&") {
            let value = String(part.drop { $0 != "=" }.dropFirst())
            switch part.prefix(while: { $0 != "=" }) {
            case "$filter": query.filter = try QueryExpression(odata: value)
            case "$orderby": query.order = try TableQuery.order(odata: value)
            case "$skip": query.skip = Int(value) ?? 0
            case "$top": query.top = Int(value)
            case "$select": _ = try TableQuery.select(odata: value)
            case "$inlinecount": query.includesCount = value == "allpages"
            default: Issue.record("unknown parameter \(part)")
            }
        }
        return query
    }

    /// In memory and in SQLite, with columns and without.
    private func find(_ ids: [String], _ query: TableQuery) async throws {
        for schema in [nil, QueryCase.schema] {
            let found = try TableQuery.Evaluator(query, schema: schema).apply(to: QueryCase.records)
            #expect(found.compactMap { $0["id"]?.string } == ids)
            let store = try SQLiteStore(path: ":memory:")
            if let schema { try await store.define([schema]) }
            try await store.write { writer in for record in QueryCase.records { try writer.put(record, in: "test") } }
            let stored = try await store.read { try $0.records(matching: query) }
            #expect(stored.compactMap { $0["id"]?.string } == ids)
            try await store.close()
        }
    }
}
