import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Reading OData") struct ODataParserTests {
    private static func number(_ text: String) -> QueryExpression {
        .literal(JSON.Number(text: text).map(TableQuery.Literal.number) ?? .null)
    }
    private static func date(_ text: String) -> QueryExpression {
        .literal(Timestamp(text).map(TableQuery.Literal.date) ?? .null)
    }
    private static func literal(_ text: String) -> TableQuery.Literal {
        JSON.Number(text: text).map(TableQuery.Literal.number) ?? .null
    }
    private static func day(_ text: String) -> QueryExpression {
        .literal(Timestamp(text).map(TableQuery.Literal.day) ?? .null)
    }
    private static func time(_ text: String) -> QueryExpression {
        .literal(Timestamp("1970-01-01T" + text).map(TableQuery.Literal.timeOfDay) ?? .null)
    }
    private static func point(_ longitude: Double, _ latitude: Double) -> TableQuery.Literal {
        GeographyPoint(longitude: longitude, latitude: latitude).map(TableQuery.Literal.point) ?? .null
    }
    private static let guid = QueryExpression.literal(.guid("0f8fad5b-d9cb-469f-a165-70867728950e"))
    private static func string(_ text: String) -> QueryExpression { .literal(.string(text)) }

    private static let a = QueryExpression.column("a")
    private static let b = QueryExpression.column("b")
    private static let c = QueryExpression.column("c")

    @Test(
        "an expression becomes its tree",
        arguments: [
            ("a", a),
            ("(a)", a),
            ("not a", .unary(.not, a)),
            ("not(a)", .unary(.not, a)),
            ("not not a", .unary(.not, .unary(.not, a))),
            ("a eq null", .binary(.eq, a, .literal(.null))),
            ("a ne true", .binary(.ne, a, .literal(.bool(true)))),
            ("a eq false", .binary(.eq, a, .literal(.bool(false)))),
            ("a or b and c", .binary(.or, a, .binary(.and, b, c))),
            ("(a or b) and c", .binary(.and, .binary(.or, a, b), c)),
            ("a and b and c", .binary(.and, .binary(.and, a, b), c)),
            ("a add b mul c", .binary(.add, a, .binary(.mul, b, c))),
            ("a sub b sub c", .binary(.sub, .binary(.sub, a, b), c)),
            ("a div b mod c", .binary(.mod, .binary(.div, a, b), c)),
            ("a gt b eq c", .binary(.eq, .binary(.gt, a, b), c)),
            ("a add 1 le 2", .binary(.le, .binary(.add, a, number("1")), number("2"))),
            ("-a lt -1", .binary(.lt, .unary(.negate, a), number("-1"))),
            ("-(1) eq 1", .binary(.eq, .unary(.negate, number("1")), number("1"))),
            ("a\teq  b ", .binary(.eq, a, b)),
            ("(a)eq(b)", .binary(.eq, a, b)),
            ("a in (-1)", .membership(a, [literal("-1")])),
            ("a in ( 'x' , null )", .membership(a, [.string("x"), .null])),
            ("a in (1,2) and b", .binary(.and, .membership(a, [literal("1"), literal("2")]), b)),
            ("not a in (true)", .membership(.unary(.not, a), [.bool(true)])),
            ("a in (1) in (true)", .membership(.membership(a, [literal("1")]), [.bool(true)])),
            ("a in [1,b]", .binary(.isIn, a, .list([number("1"), b]))),
            ("a in (b)", .binary(.isIn, a, b)),
            ("a IN [\"x\",'y']", .membership(a, [.string("x"), .string("y")])),
            ("a in ()", .membership(a, [])),
            ("A Eq 1 AND Not b", .binary(.and, .binary(.eq, .column("A"), number("1")), .unary(.not, b))),
            ("ToLower(a) eq TRUE", .binary(.eq, .call(.tolower, [a]), .literal(.bool(true)))),
            (
                "geo.distance(a, geography'POINT(13.4 52.5)') lt 5e3",
                .binary(.lt, .call(.distance, [a, .literal(point(13.4, 52.5))]), number("5e3"))
            ),
            ("geo eq a", .binary(.eq, .column("geo"), a)),
            ("substringof('x',a)", .call(.contains, [a, string("x")])),
            ("contains(a,'x')", .call(.contains, [a, string("x")])),
            ("substring(a, 1, 2) eq b", .binary(.eq, .call(.substring, [a, number("1"), number("2")]), b)),
            ("endswith(tolower(a), 'er')", .call(.endswith, [.call(.tolower, [a]), string("er")])),
            ("month eq month(month)", .binary(.eq, .column("month"), .call(.month, [.column("month")]))),
            ("größe gt _x0061__x0020_b", .binary(.gt, .column("größe"), .column("a b"))),
            ("in eq eq", .binary(.eq, .column("in"), .column("eq"))),
        ])
    func tree(_ text: String, _ expected: QueryExpression) throws {
        #expect(try QueryExpression(odata: text) == expected)
    }

    @Test(
        "constants of both generations are read",
        arguments: [
            ("''", string("")),
            ("'it''s'", string("it's")),
            ("'ü😀 and eq'", string("ü😀 and eq")),
            ("5", number("5")),
            ("007", number("7")),
            ("-9223372036854775808", number("-9223372036854775808")),
            ("9223372036854775808", number("9223372036854775808")),
            ("1.5", number("1.5")),
            ("1e3", number("1e3")),
            ("1.10", number("1.10")),
            ("12L", number("12")),
            ("200l", number("200")),
            ("1.99m", number("1.99")),
            ("10M", number("10")),
            ("-1.5f", number("-1.5")),
            ("225f", number("225")),
            ("5.99d", number("5.99")),
            ("datetime'2012-05-29T09:13:28'", date("2012-05-29T09:13:28Z")),
            ("datetimeoffset'2001-02-03T00:00:00.0000000+00:00'", date("2001-02-03T00:00:00Z")),
            ("cast(2024-08-23T20:22:54.291Z,Edm.DateTimeOffset)", date("2024-08-23T20:22:54.291Z")),
            ("cast(1977-05-04,Edm.Date)", day("1977-05-04")),
            ("cast( '1977-05-04' , Edm.Date )", day("1977-05-04")),
            ("cast(1977-05-04T23:30:00-02:00,Edm.Date)", day("1977-05-05")),
            ("cast(20:35:10,Edm.TimeOfDay)", time("20:35:10")),
            ("time'PT18H3M45.876S'", time("18:03:45.876")),
            ("time'PT3M'", time("00:03:00")),
            ("time'PT0S'", time("00:00:00")),
            ("geography'SRID=4326;POINT(-1 2.5)'", .literal(point(-1, 2.5))),
            ("geography'Point (-180 90 12)'", .literal(point(-180, 90))),
            ("cast(5,Edm.Int64)", number("5")),
            ("1994-10-14", day("1994-10-14")),
            ("1994-10-14T10:00:00.1234567+02:00", date("1994-10-14T08:00:00.1234567Z")),
            ("12:15:00", time("12:15:00")),
            ("guid'0f8fad5b-d9cb-469f-a165-70867728950e'", guid),
            ("0f8fad5b-d9cb-469f-a165-70867728950e", guid),
            ("cast(0f8fad5b-d9cb-469f-a165-70867728950e,Edm.Guid)", guid),
        ])
    func constant(_ text: String, _ expected: QueryExpression) throws {
        #expect(try QueryExpression(odata: text) == expected)
    }

    @Test("a number with a suffix of the real types divides without truncation")
    func realSuffix() throws {
        let query = TableQuery("t", filter: try QueryExpression(odata: "(5 div 2M) eq 2.5 and (5 div 2) eq 2"))
        #expect(try TableQuery.Evaluator(query, schema: nil).matches(["id": "x"]))
    }

    @Test(
        "what is not an expression is refused at its place",
        arguments: [
            ("", 0), ("   ", 3), ("(", 1), ("(a", 2), ("a)", 1), ("a eq", 4), ("a eq eq b", 8), ("a b", 2),
            ("(year - 1900) ge 100", 6), ("a eq 'x", 5), ("a eq 'it's'", 9), ("fizz(a)", 0),
            ("a or length(a, b)", 5), ("substring(a)", 0), ("length()", 0), ("a eq 1x", 5), ("a eq 1.", 5),
            ("a eq datetime'x'", 5), ("a eq cast(1994,Edm.Date)", 5), ("cast(1,Edm.Foo)", 0),
            ("a in 1", 5), ("a eq 2013-02-30", 5), ("é eq ;", 5), ("a eq 1;b", 6),
            ("--", 2), ("not", 3), ("a eq 12.5L", 5), ("contains(a,'x') 1", 16), ("a eq guid'12'", 5),
            ("geo.distance(a)", 0), ("geo.", 4), ("a eq geography'POINT(1)'", 5),
            ("a in (1,b)", 9), ("a in (b,1)", 7), ("X'00' eq a", 0), ("a eq time'PT25H'", 5),
            ("a eq time'PT1S1H'", 5), ("a eq time'PT'", 5), ("cast(1977-05-04,Edm.TimeOfDay)", 0),
        ])
    func refused(_ text: String, _ position: Int) {
        let error = #expect(throws: TableQuery.SyntaxError.self) { try QueryExpression(odata: text) }
        #expect(error?.position == position, "\(String(describing: error))")
    }

    @Test("nesting is read up to the limit and no deeper", arguments: ["(", "not ", "not(", "-(", "length(tolower("])
    func nesting(_ opening: String) throws {
        let closing = String(repeating: ")", count: opening.count { $0 == "(" })
        func text(_ levels: Int) -> String {
            String(repeating: opening, count: levels) + "a" + String(repeating: closing, count: levels)
        }
        let levels = opening.hasPrefix("length") ? 31 : 63
        _ = try QueryExpression(odata: text(levels))
        #expect(throws: TableQuery.SyntaxError.self) { try QueryExpression(odata: text(levels + 1)) }
        #expect(throws: TableQuery.SyntaxError.self) { try QueryExpression(odata: text(3), maximumDepth: 3) }
        #expect(throws: TableQuery.SyntaxError.self) {
            try QueryExpression(odata: text(200_000), maximumLength: .max)
        }
    }

    @Test("a chain of operators counts as nesting, but one of or and and does not")
    func chains() throws {
        let ids = (0..<500).map { "a eq \($0)" }.joined(separator: " or ")
        let query = TableQuery("t", filter: try QueryExpression(odata: ids))
        #expect(try TableQuery.Evaluator(query, schema: nil).matches(["a": 499]))
        #expect(try !TableQuery.Evaluator(query, schema: nil).matches(["a": 500]))
        let list = (0..<500).map(String.init).joined(separator: ",")
        #expect(
            try TableQuery.Evaluator(TableQuery("t", filter: .init(odata: "a in (\(list))")), schema: nil).matches([
                "a": 0
            ]))
        let sum = Array(repeating: "1", count: 64).joined(separator: " add ")
        _ = try QueryExpression(odata: sum)
        #expect(throws: TableQuery.SyntaxError.self) { try QueryExpression(odata: sum + " add 1") }
    }

    @Test("a list of expressions does not grow without bound", arguments: [2, 3])
    func repeatedLists(_ levels: Int) {
        let list = "[" + Array(repeating: "a", count: 1000).joined(separator: ",") + "]"
        let text = "concat(a,b)" + String(repeating: " in " + list, count: levels)
        let error = #expect(throws: TableQuery.SyntaxError.self) { try QueryExpression(odata: text) }
        #expect(error?.reason == "the lists of the query repeat too much")
    }

    @Test("a list of constants in a list does not grow without bound when it is written without in")
    func listsInLists() throws {
        func text(_ levels: Int) -> String { "a" + String(repeating: " in (true,false)", count: levels) }
        #expect(try QueryExpression(odata: text(8)).odata(.v3).utf8.count < 40_000)
        for levels in [20, 60] {
            let error = #expect(throws: TableQuery.SyntaxError.self) { try QueryExpression(odata: text(levels)) }
            #expect(error?.reason == "the lists of the query repeat too much")
        }
    }

    @Test("a text longer than the limit is refused unread")
    func length() throws {
        let text = "a eq '" + String(repeating: "ü", count: 4092) + "'"
        #expect(throws: TableQuery.SyntaxError.self) { try QueryExpression(odata: text + "  ") }
        _ = try QueryExpression(odata: text + " ")
        #expect(throws: TableQuery.SyntaxError.self) { try QueryExpression(odata: "a eq 1", maximumLength: 5) }
    }

    @Test("a damaged text is read or refused at a place within it", arguments: 0..<100 as Range<UInt64>)
    func damaged(_ seed: UInt64) {
        var generator = QueryGenerator(seed: seed)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "'", "(", ")", ",", " ", "-", "cast(", "datetime'", "in", "not", "_x", "1e", ":", "é", "\0", "2013-01-01",
        ]
        for _ in 0..<20 {
            var text = Array(generator.condition(3).odata(seed % 2 == 0 ? .v3 : .v4).unicodeScalars)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let start = Int.random(in: 0...text.count, using: &random)
                let end = min(text.count, start + Int.random(in: 0...3, using: &random))
                let piece = pieces[Int.random(in: 0..<pieces.count, using: &random)]
                text.replaceSubrange(start..<end, with: Bool.random(using: &random) ? [] : Array(piece.unicodeScalars))
            }
            var damaged = String.UnicodeScalarView()
            damaged.append(contentsOf: text)
            do {
                let read = try QueryExpression(odata: String(damaged))
                #expect(try QueryExpression(odata: read.odata(.v4), maximumLength: .max) == read)
            } catch {
                #expect((0...text.count).contains(error.position))
            }
        }
    }

    @Test("orders and selections are read and printed")
    func lists() throws {
        var query = TableQuery("t")
        query.order = try TableQuery.order(odata: "name asc, zip desc ,desc,asc desc")
        #expect(
            query.order == [
                .init("name"), .init("zip", descending: true), .init("desc"), .init("asc", descending: true),
            ])
        #expect(query.odataOrder == "name,zip desc,desc,asc desc")
        query.select = try TableQuery.select(odata: "id, title")
        #expect(query.select == ["id", "title"])
        #expect(query.odataSelect == "id,title")
        #expect(try TableQuery.select(odata: "*") == [])
    }

    @Test(
        "what is not an order is refused at its place",
        arguments: [("duration fizz", 9), ("", 0), ("a,", 2), ("a desc b", 7), ("'a'", 0)])
    func orderRefused(_ text: String, _ position: Int) {
        let error = #expect(throws: TableQuery.SyntaxError.self) { try TableQuery.order(odata: text) }
        #expect(error?.position == position)
    }

    @Test("what is not a selection is refused at its place", arguments: [("year rating", 5), ("a,,b", 2), ("1", 0)])
    func selectRefused(_ text: String, _ position: Int) {
        let error = #expect(throws: TableQuery.SyntaxError.self) { try TableQuery.select(odata: text) }
        #expect(error?.position == position)
    }
}
