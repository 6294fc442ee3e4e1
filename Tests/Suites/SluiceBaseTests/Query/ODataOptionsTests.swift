import SluiceCore
import Testing

@Suite("Query options of OData") struct ODataOptionsTests {
    @Test(
        "options are read, with their $ or without, and printed",
        arguments: [
            ("$filter=A%20eq%201&$top=5", "$filter=(A eq 1)|$top=5"), ("FILTER=true&Skip=3", "$filter=true|$skip=3"),
            ("$expand=Items", "$expand=Items"), ("$expand=A,B/$ref,*($levels=2)", "$expand=A,B/$ref,*($levels=2)"),
            (
                "$expand=Items($select=Quantity;$expand=Product($select=Name,Price))",
                "$expand=Items($select=Quantity;$expand=Product($select=Name,Price))"
            ),
            ("expand=Items/$count(filter=A eq 1)", "$expand=Items/$count($filter=(A eq 1))"),
            ("$expand=A($levels=max;$orderby=b desc)", "$expand=A($orderby=b desc;$levels=max)"),
            ("$select=A/B,M.T/C,M.*,F(x,y),@T.A,*", "$select=A/B,M.T/C,M.*,F(x,y),@T.A,*"),
            ("$select=Tags($filter=$this eq 'x';$top=1)", "$select=Tags($filter=($this eq 'x');$top=1)"),
            ("$compute=A mul 2 as B,day(C) as D", "$compute=(A mul 2) as B,day(C) as D"),
            ("$search=a b", #"$search="a" AND "b""#),
            ("$search=a OR NOT (b c)", #"$search="a" OR (NOT ("b" AND "c"))"#),
            ("$search=AND OR NOT", #"$search="AND" OR "NOT""#), ("$search=NOT NOT", #"$search=NOT "NOT""#),
            ("$search='\"bl'", #"$search="\"bl""#), ("$search=a%3Bb", #"$search="a;b""#),
            ("$expand=M($search=a%3Bb)", #"$expand=M($search="a;b")"#),
            ("$orderby=A/$count desc,B ge C", "$orderby=A/$count desc,(B ge C)"),
            ("$count=TRUE&$format=json", "$count=true|$format=json"), ("$inlinecount=allpages", "$count=true"),
            ("$filter=A eq @x&@x=5 add 3", "$filter=(A eq (5 add 3))"), ("!own&x=1%2B1", "!own=|x=1+1"),
            (
                "$apply=filter(A gt 1)/groupby((B,C/D),aggregate(E with sum as F,$count as G))",
                "$apply=filter((A gt 1))/groupby((B,C/D),aggregate(E with sum as F,$count as G))"
            ),
            ("$apply=topcount(2,A)/identity", "$apply=topcount(2,A)/identity"),
            ("$skiptoken=a@b?&$deltatoken=c", "$skiptoken=a@b?|$deltatoken=c"),
        ])
    func printed(_ text: String, _ expected: String) throws {
        let options = try ODataOptions(text)
        #expect(options.parameters.map { "\($0.name)=\($0.value)" }.joined(separator: "|") == expected)
        var again = try ODataOptions(
            options.parameters.map { "\($0.name)=\(Self.encoded($0.value))" }.joined(separator: "&"))
        again.aliases = options.aliases
        #expect(again == options)
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
            let hex = String(byte, radix: 16)
            return isPlain ? String(Unicode.Scalar(byte)) : "%" + (hex.utf8.count < 2 ? "0" : "") + hex
        }.joined()
    }

    @Test(
        "what is no option is refused",
        arguments: [
            "$filter= true", "$filter =true", "$filter", "$count", "$count=yes", "$top=-1", "$top=01", "$index=x",
            "$nothing=1", "$filter=a&filter=b", "$search=#1", "$search=a;b", "$search=\"a", "$search=\"a\"b",
            "$search=(a", "$expand=A($search=gr(een)", "$expand=A/$ref($levels=2)", "$expand=A/$ref($select=B)",
            "$expand=A/$count($count=true)", "$expand=A($levels=04)", "$expand=A(", "$expand=A($filter=b",
            "$expand=A($top=1;$top=2)", "$select=", "$select=a b", "$compute=a", "$compute=a as", "$apply=filter(",
            "$apply=a b", "$orderby=a b", "$expand=A($format=json)",
        ])
    func refused(_ text: String) {
        #expect(throws: TableQuery.SyntaxError.self) { try ODataOptions(text) }
    }

    @Test("an alias whose value is about the element where it is given stays one where it would mean another")
    func aliasOfThis() throws {
        let options = try ODataOptions("$expand=A(@m=$this;$filter=@m/x eq 1;$expand=B($filter=@m/x eq y))")
        let filter = options.expand[0].options.filter
        #expect(try filter == QueryExpression(odata: "$this/x eq 1"))
        #expect(try options.expand[0].options.expand[0].options.filter == QueryExpression(odata: "@m/x eq y"))
    }

    private static let records: [JSON] = [
        ["id": "1", "Name": "Milk", "Kind": "a", "Price": 2.5, "At": ["City": "B", "Zip": "1"], "Tags": ["x", "y"]],
        ["id": "2", "Name": "Cheese", "Kind": "b", "Price": 4, "Tags": ["y"]],
        ["id": "3", "Name": "Soy milk", "Kind": "a", "Price": .null],
    ]
    private static let schema = TableSchema("t", columns: [.init("Name", .string), .init("Price", .real)])

    @Test(
        "computed properties, searches, selections and aggregates are run in memory",
        arguments: [
            ("$select=Name", #"[{"Name":"Milk"},{"Name":"Cheese"},{"Name":"Soy milk"}]"#),
            ("$search=MILK&$select=id", #"[{"id":"1"},{"id":"3"}]"#),
            ("$search=NOT milk&$select=id", #"[{"id":"2"}]"#),
            ("$search=soy milk OR cheese&$select=id", #"[{"id":"2"},{"id":"3"}]"#),
            (
                "$compute=Price mul 2 as Double&$filter=Double ge 5&$orderby=Double desc&$select=id,Double",
                #"[{"id":"2","Double":8.0},{"id":"1","Double":5.0}]"#
            ),
            ("$select=At/City,Tags($filter=$this gt 'x')&$top=1", #"[{"At":{"City":"B"},"Tags":["y"]}]"#),
            (
                "$apply=aggregate(Price with sum as S,Price with average as A,Price with max as M,$count as N)",
                #"[{"S":6.5,"A":3.25,"M":4,"N":3}]"#
            ),
            (
                "$apply=filter(Name ne 'x')/groupby((Kind),aggregate($count as N))&$orderby=N&$top=5",
                #"[{"Kind":"b","N":1},{"Kind":"a","N":2}]"#
            ),
            ("$apply=groupby((At/City))", #"[{"At":{"City":"B"}},{"At":{"City":null}}]"#),
            ("$apply=compute(length(Name) as L)/filter(L gt 6)&$select=L", #"[{"L":8}]"#),
            ("$apply=aggregate(Kind with countdistinct as D)", #"[{"D":2}]"#),
            ("$apply=concat(top(1),aggregate($count as N))&$select=id,N", #"[{"id":"1"},{"N":3}]"#),
        ])
    func run(_ text: String, _ expected: String) throws {
        let read = try ODataRead(ODataOptions(text), of: Self.schema)
        let found = try TableQuery.Evaluator(read.query, schema: Self.schema).apply(to: Self.records)
        #expect(try JSON(read.answer(found)) == JSON(parsing: expected))
    }

    @Test(
        "what is read and not run is refused as unsupported",
        arguments: [
            "$select=M.T/A", "$select=@T.A", "$select=Tags($expand=A)", "$apply=topcount(1,Price)",
            "$apply=groupby((rollup($all,Kind)))", "$apply=aggregate(Price with M.own as X)", "$filter=now() gt At",
        ])
    func unsupported(_ text: String) throws {
        let options = try ODataOptions(text)
        let error = #expect(throws: SluiceError.self) {
            try ODataRead(options, of: Self.schema).answer(Self.records)
        }
        #expect(error?.code == .unsupported)
    }

    @Test("now is what the caller says")
    func now() throws {
        let filter = try QueryExpression(odata: "now() sub duration'P1D' gt 2024-01-01")
        let time = try #require(Timestamp("2024-01-03T00:00:00Z"))
        let query = TableQuery("t", filter: filter.at(time))
        #expect(try TableQuery.Evaluator(query, schema: nil).matches(["id": "a"]))
    }
}
