import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Printing SQL") struct SQLQueryPrinterTests {
    private static let noon = Timestamp(ticks: 43_200 * Timestamp.ticksPerSecond)
    private let printer = SQLQueryPrinter(dialect: .sqlite, schema: QueryGenerator.schema, extraColumn: "__extra")

    @Test(
        "a filter becomes a condition",
        arguments: [
            ("name eq 'x'", #"("name" IS ?)"#, [SQLValue.text("x")]),
            ("id ne 'x'", #"("id" IS NOT ?)"#, [.text("x")]),
            ("count ge 5 and weight lt 1.5", #"(("count" >= ?) AND ("weight" < ?))"#, [.integer(5), .real(1.5)]),
            ("not(count ge 5)", #"(NOT (("count" >= ?) IS TRUE))"#, [.integer(5)]),
            ("done", #""done""#, []),
            ("done eq true or not done", #"(("done" IS ?) OR (NOT "done"))"#, [.integer(1)]),
            ("name eq null", #"("name" IS NULL)"#, []),
            ("null ne free", #"(sluice_property("__extra", ?) IS NOT NULL)"#, [.text("free")]),
            ("count gt null", "?", [.integer(0)]),
            ("free gt 5", #"sluice_gt(sluice_property("__extra", ?), ?)"#, [.text("free"), .integer(5)]),
            ("free", #"sluice_bool(sluice_property("__extra", ?))"#, [.text("free")]),
            ("free eq done", #"sluice_eq(sluice_property("__extra", ?), sluice_any_bool("done"))"#, [.text("free")]),
            ("free ne tags", #"sluice_ne(sluice_property("__extra", ?), sluice_any_json("tags"))"#, [.text("free")]),
            ("made ge 1970-01-01T00:00:01Z", #"(sluice_ticks("made") >= ?)"#, [.integer(10_000_000)]),
            (
                "name ge 1970-01-01", #"sluice_ge("name", ?)"#, [.blob([3, 0, 0, 0, 0, 0, 0, 0, 0])]
            ),
            ("year(made) eq 1994", #"(sluice_year(sluice_any_date("made")) IS ?)"#, [.integer(1994)]),
            ("count add 1 mul 2 eq 3", #"(("count" + (? * ?)) IS ?)"#, [.integer(1), .integer(2), .integer(3)]),
            ("count mod 2 eq 1", #"(sluice_mod("count", ?) IS ?)"#, [.integer(2), .integer(1)]),
            (
                "free add 1 eq 3", #"(sluice_add(sluice_property("__extra", ?), ?) IS ?)"#,
                [.text("free"), .integer(1), .integer(3)]
            ),
            ("contains(name,'x')", #"(instr("name", ?) > 0)"#, [.text("x")]),
            ("contains(free,'x')", #"sluice_contains(sluice_property("__extra", ?), ?)"#, [.text("free"), .text("x")]),
            ("concat(name,'x') eq 'y'", #"(("name" || ?) IS ?)"#, [.text("x"), .text("y")]),
            (
                "substring(name,1,2) eq 'y'", #"(sluice_substring("name", ?, ?) IS ?)"#,
                [.integer(1), .integer(2), .text("y")]
            ),
            ("name in ('x','y')", #"("name" IN (?, ?))"#, [.text("x"), .text("y")]),
            ("not(name in ('x'))", #"(NOT coalesce("name" IN (?), ?))"#, [.text("x"), .integer(0)]),
            ("name in ('x',null)", #"coalesce("name" IN (?), ?)"#, [.text("x"), .integer(1)]),
            (
                "made in (1970-01-01,'x')", #"(sluice_ticks("made") IN (?))"#, [.integer(0)]
            ),
            (
                "free in (1,'x')", #"(sluice_property("__extra", ?) IN (?, ?))"#,
                [.text("free"), .integer(1), .text("x")]
            ),
            ("name in (12:00:00)", #"sluice_in("name", ?)"#, [SQLValueList.blob([SQLValue(.time(noon))])]),
            (
                "geo.distance(free,null) lt 1", #"(sluice_geo_distance(sluice_place("__extra", ?), ?) < ?)"#,
                [.text("free"), .null, .integer(1)]
            ),
            (
                "geo.distance(tags,geography'POINT(0 0)') lt 1",
                #"(sluice_geo_distance(sluice_any_json("tags"), ?) < ?)"#,
                [.blob([6] + Array(repeating: 0, count: 16)), .integer(1)]
            ),
            (
                "(count gt 1) eq (weight gt 2)", #"((("count" > ?) IS TRUE) IS (("weight" > ?) IS TRUE))"#,
                [.integer(1), .integer(2)]
            ),
        ])
    func condition(_ filter: String, _ text: String, _ values: [SQLValue]) throws {
        let sql = try printer.condition(QueryExpression(odata: filter))
        #expect(sql == SQLText(text, values: values))
    }

    @Test("an order names the id last, and kinds first where they are not known")
    func ordering() throws {
        let property = #"sluice_property("__extra", ?)"#
        func text(_ keys: TableQuery.SortKey...) throws -> String { try printer.ordering(keys).text }
        #expect(try text() == #""id""#)
        #expect(try text(.init("name", descending: true), .init("made")) == #""name" DESC, sluice_ticks("made"), "id""#)
        #expect(try text(.init("free", descending: true)) == "sluice_rank(\(property)) DESC, \(property) DESC, \"id\"")
        #expect(try text(.init("tags")) == #""tags" IS NOT NULL, "id""#)
        #expect(try text(.init("name"), .init("id", descending: true), .init("count")) == #""name", "id" DESC"#)
        #expect(try printer.ordering([.init("free")]).values == [.text("free"), .text("free")])
    }

    @Test("names are quoted and refused filters throw")
    func names() throws {
        let schema = TableSchema("t", columns: [.init(#"a"b"#, .string)])
        let printer = SQLQueryPrinter(dialect: .sqlite, schema: schema, extraColumn: #"x"y"#)
        #expect(try printer.condition(.binary(.eq, .column(#"a"b"#), .literal(.string("z")))).text == #"("a""b" IS ?)"#)
        #expect(try printer.condition(.column("c")).text == #"sluice_bool(sluice_property("x""y", ?))"#)
        #expect(throws: SluiceError.self) { try printer.condition(.column(#"a"b"#)) }
        #expect(throws: SluiceError.self) { try printer.condition(.call(.trim, [])) }
    }

    @Test("no constant and no undeclared name is ever in the text", arguments: 0..<200 as Range<UInt64>)
    func noConstants(_ seed: UInt64) throws {
        var generator = QueryGenerator(seed: seed)
        let allowed = Set(
            [
                "sluice", "NOT", "IS", "NULL", "TRUE", "AND", "OR", "instr", "extra", "id", "DESC", "0", "property",
                "rank",
            ]
                + [
                    "name", "count", "weight", "done", "made", "tags", "ticks", "bool", "any", "date", "json", "negate",
                    "IN", "place", "coalesce", "in", "geo", "eval", "CASE", "WHEN", "THEN", "END",
                ]
                + TableQuery.Function.allCases.map { $0 == .distance ? "distance" : $0.rawValue }
                + QueryExpression.BinaryOperator.allCases.map(\.rawValue))
        for sql in [try printer.condition(generator.condition(5)), try printer.ordering(generator.order())] {
            let words = sql.text.split { !$0.isLetter && !$0.isNumber }
            #expect(words.allSatisfy { allowed.contains(String($0)) }, "\(sql.text)")
            #expect(!sql.text.contains("'"))
            #expect(sql.text.count { $0 == "?" } == sql.values.count)
        }
    }

    @Test("values keep their kind on the way through the database")
    func values() {
        let values: [QueryValue] = [
            .null, .bool(true), .bool(false), .integer(.min), .real(-0.5), .string("a\0b"), .other,
            .date(Timestamp(ticks: -1)), .date(Timestamp(ticks: 13_000_000_000_000_001)),
        ]
        for value in values {
            #expect(String(describing: SQLValue(value).queryValue) == String(describing: value))
        }
    }

    @Test("a declared column holds null for what is not of its type")
    func columnValues() {
        #expect(SQLValue("x", declared: .string) == .text("x"))
        #expect(SQLValue(5, declared: .string) == .null)
        #expect(SQLValue(5, declared: .integer) == .integer(5))
        #expect(SQLValue(5.5, declared: .integer) == .null)
        #expect(SQLValue(5, declared: .real) == .real(5))
        #expect(SQLValue(true, declared: .boolean) == .integer(1))
        #expect(SQLValue(1, declared: .boolean) == .null)
        #expect(SQLValue("no date", declared: .date) == .text("no date"))
        #expect(SQLValue([1], declared: .json) == .text("[1]"))
        #expect(SQLValue("x", declared: .json) == .null)
        #expect(SQLValue(nil, declared: .real) == .null)
        #expect(SQLValue(JSON.null, declared: .string) == .null)
    }

    @Test("every function has a name and number of arguments of its own")
    func functions() {
        let functions = QueryFunctions.sqlFunctions
        #expect(Set(functions.map { "\($0.name)/\($0.argumentCount)" }).count == functions.count)
        #expect(functions.allSatisfy { $0.name.hasPrefix("sluice_") })
        for function in functions {
            // Whatever the database hands over, there is an answer.
            for value in [SQLValue.null, .integer(.min), .real(.infinity), .text(""), .blob([]), .blob([3, 1])] {
                _ = function.body(
                    Array(repeating: value, count: function.argumentCount < 0 ? 3 : function.argumentCount))
            }
        }
    }
}
