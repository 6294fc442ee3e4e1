import SluiceCore
import Testing

@Suite("Writing queries in Swift") struct QueryBuilderTests {
    @Test(
        "operators and functions make the tree that OData text makes",
        arguments: [
            (
                column("year") >= 1990 && !column("title").startsWith("The "),
                "(year ge 1990) and not startswith(title,'The ')"
            ),
            (column("a") == nil || column("b") != true, "a eq null or b ne true"),
            (column("a") + 1 < column("b") * 2.5, "(a add 1) lt (b mul 2.5)"),
            (-column("a") - 1 > column("b") / 2 % 3, "((-a) sub 1) gt ((b div 2) mod 3)"),
            (column("a").trimmed.lowercased.length <= 3, "length(tolower(trim(a))) le 3"),
            (column("a").uppercased.concatenated("!") == "A!", "concat(toupper(a),'!') eq 'A!'"),
            (
                column("a").substring(1, 2).index(of: "x") == column("a").substring(3),
                "indexof(substring(a,1,2),'x') eq substring(a,3)"
            ),
            (column("a").replacing("x", with: "y").contains("z"), "contains(replace(a,'x','y'),'z')"),
            (column("a").endsWith("z") || column("a").isIn(["x", "y", "z"]), "endswith(a,'z') or a in ('x','y','z')"),
            (column("d").year == 1 && column("d").month == column("d").day, "year(d) eq 1 and month(d) eq day(d)"),
            (
                column("d").hour == column("d").minute && column("d").second == 0,
                "hour(d) eq minute(d) and second(d) eq 0"
            ),
            (
                column("n").floor == column("n").ceiling || column("n").rounded == 1,
                "floor(n) eq ceiling(n) or round(n) eq 1"
            ),
            (column("d") < TableQuery.Term(Timestamp(ticks: 0)), "d lt 1970-01-01T00:00:00Z"),
            (column("a").isIn([]), "false"),
        ])
    func tree(_ term: TableQuery.Term, _ odata: String) throws {
        #expect(term.expression == (try QueryExpression(odata: odata)))
    }

    @Test("conditions add up, keys too, and pages as a chain of calls means them")
    func query() throws {
        let query = TableQuery("movies").where(column("a") == 1).where(column("b") == 2).sorted(by: "a")
            .sorted(by: "b", descending: true).skipping(2).skipping(5).taking(9).taking(2).taking(5).selecting(
                "id", "a")
        #expect(query.filter == (try QueryExpression(odata: "a eq 1 and b eq 2")))
        #expect(query.odataOrder == "a,b desc")
        #expect(query.skip == 7)
        #expect(query.top == 2)
        #expect(query.select == ["id", "a"])
        #expect(query.skipping(.max).skip == .max)
        let more = query.includingCount().includingDeleted().parameter("a", "1").parameter("a", "2")
        #expect(more.includesCount && more.includesDeleted)
        #expect(more.parameters == [.init("a", "1"), .init("a", "2")])
    }
}
