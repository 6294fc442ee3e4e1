import SluiceCore
import Testing

@Suite("What paths lead to") struct QueryPathTests {
    private static let record: JSON = [
        "id": "r", "Name": "Milk", "n": 7,
        "Address": [
            "City": "Berlin",
            "Lines": [["p": 1, "q": ["a", "b"]], ["p": 5, "q": []], ["q": ["c"]]],
        ],
        "Tags": ["x", "y"], "Empty": [], "Null": .null, "Color": "Red,Blue", "Flags": 6,
        "At": "2024-05-01T10:00:00.25+02:00", "Length": "PT1H30M", "Names": ["Milk", "Tea"],
    ]

    @Test(
        "a condition holds or not",
        arguments: [
            ("Address/City eq 'Berlin'", true), ("Address/None eq null", true), ("Name/City eq null", true),
            ("$it/Address/City eq 'Berlin'", true), ("Tags/any(t:t eq 'x')", true), ("Tags/any(t:t eq 'z')", false),
            ("Tags/all(t:length(t) eq 1)", true), ("Empty/any()", false), ("Tags/any()", true),
            ("Empty/all(x:false)", true), ("Null/any()", false), ("None/all(x:x eq 1)", true),
            ("Address/Lines/any(l:l/p gt 4)", true), ("Address/Lines/all(l:l/p gt 0)", false),
            ("Address/Lines/any(l:l/q/any(q:q eq 'a' and l/p eq 1))", true),
            ("Address/Lines/any(l:l/q/any(q:q eq 'c' and l/p eq 1))", false),
            ("Address/Lines/$count eq 3", true), ("Address/Lines/$count($filter=p ge 1) eq 2", true),
            ("Address/Lines/$filter(p ge 1)/any(x:x/p eq $it/n sub 2)", true), ("Address/Lines/q/$count eq 3", true),
            ("Tags/any(n:n eq 'x' and $it/n eq 7)", true), ("Names/any(t:t eq Name)", true),
            ("Tags/any(t:t eq Name)", false), ("Name in Names", true), ("'q' in Names", false), ("n in (n)", true),
            ("Name in ['x',Name]", true), ("n in []", false), ("Color has T.C'Blue'", true),
            ("Color has T.C'Red,Green'", false), ("Flags has T.C'4'", true), ("Flags has 1", false),
            ("n divby 2 eq 3.5", true), ("n div 2 eq 3", true), ("n LT INF", true),
            ("date(At) eq 2024-05-01", true), ("time(At) eq 08:00:00.25", true),
            ("fractionalseconds(At) eq 0.25", true),
            ("totalseconds(Length) eq 5400", true), ("Length eq duration'PT90M'", true),
            ("At add duration'P1D' gt 2024-05-02", true), ("At sub 2024-05-01T00:00:00Z lt duration'PT9H'", true),
            ("duration'PT1H' mul 2 eq duration'PT2H'", true), ("-duration'PT1H' lt duration'PT0S'", true),
            ("case(n gt 5:'big',true:'small') eq 'big'", true), ("case(n gt 50:'big') eq null", true),
            ("maxdatetime() gt At and mindatetime() lt At", true),
        ])
    func holds(_ text: String, _ expected: Bool) throws {
        let filter = try QueryExpression(odata: text)
        for style in [ODataOptions.Style.v3, .v4] {
            let read = try QueryExpression(odata: filter.odata(style))
            #expect(
                try TableQuery.Evaluator(TableQuery("t", filter: read), schema: nil).matches(Self.record) == expected)
        }
    }

    @Test("what is no collection has no elements to ask about: null", arguments: ["Name/any()", "n/all(x:x eq 1)"])
    func noCollection(_ text: String) throws {
        for filter in [text, "not \(text)"] {
            let query = TableQuery("t", filter: try QueryExpression(odata: filter))
            #expect(try !TableQuery.Evaluator(query, schema: nil).matches(Self.record))
        }
    }

    @Test("any and all know three values")
    func threeValues() throws {
        let record: JSON = ["id": "a", "list": [1, .null, 3]]
        func matches(_ text: String) throws -> Bool {
            try TableQuery.Evaluator(TableQuery("t", filter: .init(odata: text)), schema: nil).matches(record)
        }
        // Text functions of numbers are null.
        #expect(try !matches("list/any(x:contains(x,'a'))") && !matches("not list/any(x:contains(x,'a'))"))
        #expect(try matches("list/any(x:contains(x,'a') or x eq 3)"))
        #expect(try !matches("not list/all(x:contains(x,'a') or x eq 1)"))
        #expect(try matches("not list/all(x:contains(x,'a') and x eq 1)"))
    }

    @Test("declared columns keep their kind at a path's beginning")
    func declared() throws {
        let schema = TableSchema("t", columns: [.init("a", .json), .init("s", .string)])
        let text = "a/b eq 1"
        let filter = try QueryExpression(odata: text, for: schema, undeclared: .refused)
        #expect(try TableQuery.Evaluator(TableQuery("t", filter: filter), schema: schema).matches(["a": ["b": 1]]))
        for (text, place) in [("s/b eq 1", 2), ("1 eq 1 and none/any()", 11), ("a/any(x:s/y eq 1)", 10)] {
            let error = #expect(throws: TableQuery.SyntaxError.self) {
                try QueryExpression(odata: text, for: schema, undeclared: .refused)
            }
            #expect(error?.position == place && error?.isUnsupported == false, "\(String(describing: error))")
        }
    }

    @Test("collections in collections come to an end")
    func bounded() throws {
        let list = JSON((0..<400).map { JSON($0) })
        let text = "l/any(a:$it/l/any(b:$it/l/any(c:a add b add c lt 0)))"
        let query = TableQuery("t", filter: try QueryExpression(odata: text))
        #expect(try !TableQuery.Evaluator(query, schema: nil).matches(["id": "a", "l": list]))
    }

    private struct Tables: TableQuery.Relations {
        func schema(of table: String) -> TableSchema? {
            table == "suppliers"
                ? TableSchema(
                    "suppliers", columns: [.init("Name", .string)],
                    references: [.init("Products", toMany: "products", where: "supplier")]) : nil
        }

        func records(of table: String, where column: PropertyName, equals value: JSON) -> [JSON] {
            let all: [JSON] =
                table == "suppliers"
                ? [["id": "s1", "Name": "Dairy"], ["id": "s2", "Name": "Farm"]]
                : [["id": "p1", "supplier": "s1", "Price": 3], ["id": "p2", "supplier": "s1", "Price": 9]]
            return all.filter { $0[column] == value }
        }
    }

    @Test(
        "navigation properties are followed where the other tables are given, and refused elsewhere",
        arguments: [
            ("Supplier/Name eq 'Dairy'", true), ("Supplier/Products/any(p:p/Price gt 5)", true),
            ("Supplier/Products/all(p:p/Price gt 5)", false), ("Supplier/Products/$count eq 2", true),
            ("Supplier/Products/any(p:p/id eq $it/id)", true),
        ])
    func navigation(_ text: String, _ expected: Bool) throws {
        let schema = TableSchema("products", references: [.init("Supplier", to: "suppliers", by: "supplier")])
        let query = TableQuery("products", filter: try QueryExpression(odata: text))
        let record: JSON = ["id": "p1", "supplier": "s1"]
        #expect(try TableQuery.Evaluator(query, schema: schema, relations: Tables()).matches(record) == expected)
        let refusal = #expect(throws: SluiceError.self) { try TableQuery.Evaluator(query, schema: schema) }
        #expect(refusal?.code == .unsupported)
    }

    @Test(
        "a pattern is found or not",
        arguments: [
            ("^a+$", "aaa", true), ("^a+$", "aab", false), ("a{2,3}", "xaay", true), ("^a{2,3}$", "aaaa", false),
            ("^(ab|cd)*$", "abcdab", true), (#"\bfoo\b"#, "a foo b", true), (#"[a-c\d]+x"#, "9x", true),
            ("[^a-c]", "abc", false), ("^$", "", true), (#"\u0041"#, "A", true), ("^(a|)$", "", true),
            (#"^[\w.]+@[\w.]+$"#, "a.b@c.d", true), ("a", "A", false), ("^.$", "😀", true), (".", "\n", false),
            ("^(?:x|y)?z", "yz", true), ("^a{0}b", "b", true),
        ])
    func pattern(_ pattern: String, _ text: String, _ expected: Bool) throws {
        let filter = QueryExpression.call(.matchesPattern, [.column("t"), .literal(.string(pattern))])
        let record: JSON = ["id": "a", "t": JSON(text)]
        #expect(try TableQuery.Evaluator(TableQuery("t", filter: filter), schema: nil).matches(record) == expected)
    }

    @Test("no pattern takes longer than the lengths multiplied")
    func hostilePattern() throws {
        let filter = try QueryExpression(odata: "matchesPattern(t,'^(a*)*(a|a)*(a+a+)+b$')")
        let text = JSON(String(repeating: "a", count: 5000))
        #expect(
            try !TableQuery.Evaluator(TableQuery("t", filter: filter), schema: nil).matches(["id": "a", "t": text]))
        for pattern in [
            "(a{1000}){1000}", "a{99999}", String(repeating: "(", count: 5000), "[a", "a**", "x{2,1}", #"\q"#,
        ] {
            let filter = QueryExpression.call(.matchesPattern, [.column("t"), .literal(.string(pattern))])
            let refusal = #expect(throws: SluiceError.self) {
                try TableQuery.Evaluator(TableQuery("t", filter: filter), schema: nil)
            }
            #expect(refusal?.code == .invalidQuery)
        }
    }
}
