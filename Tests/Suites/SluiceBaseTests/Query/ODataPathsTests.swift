import SluiceCore
import Testing

@Suite("Paths and constants of OData v4.01") struct ODataPathsTests {
    private static let one = QueryExpression.literal(.number(JSON.Number(1)))

    @Test(
        "a path becomes its steps",
        arguments: [
            ("Address/City", TableQuery.Path(.record, [.property("Address"), .property("City")])),
            ("$it/City", TableQuery.Path(.it, [.property("City")])),
            ("Lines/$count", TableQuery.Path(.record, [.property("Lines"), .count(nil, nil)])),
            (
                "Lines/$count($filter=Price eq 1;$search=\"a b\")",
                TableQuery.Path(
                    .record, [.property("Lines"), .count(.binary(.eq, .column("Price"), one), .phrase("a b"))])
            ),
            ("Lines/any()", TableQuery.Path(.record, [.property("Lines"), .any(nil)])),
            (
                "Lines/any(l:l/Price eq Limit)",
                TableQuery.Path(
                    .record,
                    [
                        .property("Lines"),
                        .any(
                            TableQuery.Lambda(
                                "l",
                                .binary(
                                    .eq, .path(TableQuery.Path(.variable("l"), [.property("Price")])), .column("Limit"))
                            )),
                    ])
            ),
            (
                "Tags/all(t:t eq 1)",
                TableQuery.Path(
                    .record,
                    [
                        .property("Tags"),
                        .all(TableQuery.Lambda("t", .binary(.eq, .path(TableQuery.Path(.variable("t"), [])), one))),
                    ])
            ),
            (
                "Address/Model.Home/City",
                TableQuery.Path(.record, [.property("Address"), .type("Model.Home"), .property("City")])
            ),
            (
                "Items(1)/Name",
                TableQuery.Path(
                    .record, [.property("Items"), .key([TableQuery.Argument(nil, one)]), .property("Name")])
            ),
            (
                "$root/Items(A=1,B=1)",
                TableQuery.Path(
                    .service,
                    [.property("Items"), .key([TableQuery.Argument("A", one), TableQuery.Argument("B", one)])])
            ),
            ("Price/@Measures.Unit#x", TableQuery.Path(.record, [.property("Price"), .annotation("Measures.Unit#x")])),
            (
                "Model.Near(Place=1)",
                TableQuery.Path(.record, [.function("Model.Near", [TableQuery.Argument("Place", one)])])
            ),
            (
                "Items/$filter(A eq 1)/any()",
                TableQuery.Path(.record, [.property("Items"), .filter(.binary(.eq, .column("A"), one)), .any(nil)])
            ),
            ("@p/Name", TableQuery.Path(.alias("p"), [.property("Name")])),
        ])
    func path(_ text: String, _ expected: TableQuery.Path) throws {
        let read = try QueryExpression(odata: text)
        #expect(read == .path(expected))
        for style in [ODataOptions.Style.v3, .v4] { #expect(try QueryExpression(odata: read.odata(style)) == read) }
    }

    @Test(
        "constants and what is made of them are read and printed",
        arguments: [
            "(a eq duration'P1DT2H3M4.5S')", "(a eq -INF)", "(a eq T.Color'Red,Blue')", "(a eq binary'Zm8=')",
            "(a eq geometry'SRID=0;LineString(1 1,2 2)')", "case((a gt 1):'x',true:'y')", "isof(a,Model.Type)",
            "cast(Collection(Edm.String))", "(a eq [1,'x',{\"b\":[null]}])", "(a has T.Color'Red')", "(a divby 2)",
            "matchesPattern(a,'^x')", "(now() gt a)", "hassubset(a,[1,2])",
        ])
    func printed(_ text: String) throws {
        let read = try QueryExpression(odata: text)
        #expect(read.odata(.v4) == text)
        #expect(try QueryExpression(odata: read.odata(.v3)) == read)
    }

    @Test("a property that has a variable's name stays a property")
    func shadowed() throws {
        let condition = QueryExpression.binary(.eq, .column("x"), .path(TableQuery.Path(.variable("x"), [])))
        let filter = QueryExpression.path(
            TableQuery.Path(.record, [.property("a"), .any(TableQuery.Lambda("x", condition))]))
        #expect(try QueryExpression(odata: filter.odata(.v4)) == filter)
    }

    @Test(
        "what is no path is refused at its place",
        arguments: [
            ("a/", 2), ("a/any(", 6), ("a/any(x)", 7), ("a/all()", 6), ("a/$nothing", 2), ("any()", 0), ("Model.F", 7),
            ("a/1", 2), ("$it eq 1 and $us", 13), ("$root", 5), ("[1", 2), ("{1}", 1), ("case(a)", 6), ("@", 1),
            ("a eq ['x", 6), ("a eq [\"x]", 6), ("a/$count($top=1)", 2), ("a eq duration'1h'", 5),
            ("a eq geography'LineString(1 1'", 5), ("cast(a,)", 7), ("a has T.C''", 6),
        ])
    func refused(_ text: String, _ position: Int) {
        let error = #expect(throws: TableQuery.SyntaxError.self) { try QueryExpression(odata: text) }
        #expect(error?.position == position, "\(String(describing: error))")
        #expect(error?.isUnsupported == false)
    }

    @Test(
        "what is read and not run is refused at its place, as unsupported",
        arguments: [
            ("1 eq 1 and $root/A/b eq 1", 11), ("a/T.B/c eq 1", 2), ("a(1)/b eq 1", 1), ("a/@X.Y eq 1", 2),
            ("T.F(x=1) eq 1", 0), ("now() gt a", 0), ("isof(a,T.B)", 0), ("a eq [1]", 5), ("a eq {}", 5),
            ("geo.length(a) eq 1", 0), ("contains(a,[1])", 11), ("a/any(x:x eq binary'')", 13), ("a eq NaN", 5),
            ("$it eq 1", 0), ("$this eq 1", 0), ("matchesPattern(a,'(?=x)')", 17),
        ])
    func unsupported(_ text: String, _ position: Int) throws {
        let error = #expect(throws: TableQuery.SyntaxError.self) { try QueryExpression(odata: text, for: nil) }
        #expect(error?.isUnsupported == true, "\(String(describing: error))")
        #expect(error?.position == position, "\(String(describing: error))")
        let query = TableQuery("t", filter: try QueryExpression(odata: text))
        let refusal = #expect(throws: SluiceError.self) { try TableQuery.Evaluator(query, schema: nil) }
        #expect(refusal?.code == .unsupported)
    }

    @Test("paths, lambdas, lists and aliases end at the limits too")
    func limits() throws {
        func lambdas(_ levels: Int) -> String {
            String(repeating: "a/any(x:", count: levels) + "x eq 1" + String(repeating: ")", count: levels)
        }
        _ = try QueryExpression(odata: lambdas(30))
        #expect(throws: TableQuery.SyntaxError.self) { try QueryExpression(odata: lambdas(100)) }
        for opening in ["[", "{\"a\":", "case(true:", "cast("] {
            let text = String(repeating: opening, count: 5000)
            #expect(throws: TableQuery.SyntaxError.self) { try QueryExpression(odata: text, maximumLength: .max) }
        }
        var doubling = "$filter=@a0"
        for index in 0..<60 { doubling += "&@a\(index)=@a\(index + 1) and @a\(index + 1)" }
        #expect(throws: TableQuery.SyntaxError.self) { try ODataOptions(doubling + "&@a60=b") }
        #expect(throws: TableQuery.SyntaxError.self) { try ODataOptions("$filter=@a&@a=@b&@b=@a") }
    }
}
