import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Columns that a query names") struct QueryColumnsTests {
    private let schema = QueryGenerator.schema

    @Test(
        "a filter that does not fit the table's columns is refused at its place",
        arguments: [
            ("free eq 1", 0, "there is no column \"free\""),
            ("name eq 'a' and not(tolower(Name) eq 'a')", 28, "there is no column \"Name\""),
            ("count gt 1 or weight lt odd_x0020_name", 24, "there is no column \"odd name\""),
            ("name in ('a','b') or _extra eq 1", 21, "there is no column \"_extra\""),
            ("name eq 'a' or count eq 'x'", 21, "eq compares a number with a string (column count)"),
            ("done and name", 9, "and wants a bool, not a string (column name)"),
            ("name", 0, "a filter wants a bool, not a string (column name)"),
            ("done and -name eq 1", 10, "the sign - wants a number, not a string (column name)"),
            ("year(name) eq 1994 and year(count) eq 1", 28, "year wants a date, not a number (column count)"),
            ("count add weight add name gt 1", 21, "add wants a number, not a string (column name)"),
        ])
    func refusedFilter(_ text: String, _ position: Int, _ reason: String) throws {
        let error = #expect(throws: TableQuery.SyntaxError.self) {
            try QueryExpression(odata: text, for: schema, undeclared: .refused)
        }
        #expect(error == TableQuery.SyntaxError(reason: reason, position: position))
        let query = TableQuery("things", filter: try QueryExpression(odata: text))
        let refused = #expect(throws: SluiceError.self) {
            try TableQuery.Evaluator(query, schema: schema, undeclared: .refused)
        }
        #expect(refused?.code == .invalidQuery)
        #expect(refused?.message == reason)
        #expect(throws: SluiceError.self) {
            try SQLQueryPrinter(dialect: .sqlite, schema: schema, extraColumn: "_extra", undeclared: .refused)
                .condition(QueryExpression(odata: text))
        }
    }

    @Test("declared columns and the id are known", arguments: ["name eq id", "done or made gt 2013-01-01", "1 eq 1"])
    func accepted(_ text: String) throws {
        let filter = try QueryExpression(odata: text, for: schema, undeclared: .refused)
        #expect(try filter == QueryExpression(odata: text))
        #expect(
            try TableQuery.order(odata: "id desc,name", for: schema, undeclared: .refused).map(\.column) == [
                "id", "name",
            ])
        #expect(try TableQuery.select(odata: "id,tags", for: schema, undeclared: .refused) == ["id", "tags"])
        #expect(try TableQuery.select(odata: "*", for: schema, undeclared: .refused) == [])
    }

    @Test("an order and a selection are checked too, with the place")
    func lists() throws {
        let order = #expect(throws: TableQuery.SyntaxError.self) {
            try TableQuery.order(odata: "name desc, free", for: schema, undeclared: .refused)
        }
        #expect(order == TableQuery.SyntaxError(reason: "there is no column \"free\"", position: 11))
        let select = #expect(throws: TableQuery.SyntaxError.self) {
            try TableQuery.select(odata: "id,free", for: schema, undeclared: .refused)
        }
        #expect(select?.position == 3)
        for query in [TableQuery("things", order: [.init("free")]), TableQuery("things", select: ["id", "free"])] {
            let error = #expect(throws: SluiceError.self) {
                try TableQuery.Evaluator(query, schema: schema, undeclared: .refused)
            }
            #expect(error?.code == .invalidQuery)
            #expect(error?.table == "things")
        }
    }

    @Test("a property without a column is no mistake unless that is asked for")
    func allowed() throws {
        let query = TableQuery(
            "things", filter: try QueryExpression(odata: "free eq 1", for: schema), order: [.init("free")])
        #expect(try TableQuery.Evaluator(query, schema: schema).matches(["id": "x", "free": 1]))
    }

    @Test("conditions put together one by one are no nesting", arguments: [1000])
    func longChains(_ count: Int) throws {
        var query = TableQuery("things")
        for number in 0..<count { query = query.where(column("free") != .init(number)) }
        let evaluator = try TableQuery.Evaluator(query, schema: schema)
        #expect(evaluator.matches(["id": "x", "free": JSON(Int64(count))]))
        #expect(!evaluator.matches(["id": "x", "free": 0]))
        #expect(!evaluator.matches(["id": "x", "free": JSON(Int64(count - 1))]))
        let filter = try #require(query.filter)
        let read = try QueryExpression(odata: filter.odata(.v4), maximumLength: .max)
        #expect(
            try !TableQuery.Evaluator(TableQuery("things", filter: read), schema: schema).matches([
                "id": "x", "free": 0,
            ]))
    }
}
