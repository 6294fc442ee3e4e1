import SluiceCore
import Testing

@Suite("Names in OData text") struct ODataColumnsTests {
    private let columns: (PropertyName) -> PropertyName? = { ["year": "year", "__version": "version"][$0] }

    @Test("A name stands for the column that it means") func renamed() throws {
        let filter = try QueryExpression(odata: "__version eq 'a'", for: nil, columns: columns)
        #expect(filter == .binary(.eq, .column("version"), .literal(.string("a"))))
        let order = try TableQuery.order(odata: "__version desc,year", for: nil, columns: columns)
        #expect(order == [.init("version", descending: true), .init("year")])
        #expect(try TableQuery.select(odata: "year,__version", for: nil, columns: columns) == ["year", "version"])
    }

    @Test(
        "A name without a column is an error at its place",
        arguments: [("year ge 1 and missing eq 20", 14), ("tolower(missing) eq 'a'", 8), ("missing", 0)])
    func unknown(text: String, position: Int) {
        let expected = TableQuery.SyntaxError(reason: "there is no column \"missing\"", position: position)
        #expect(throws: expected) { try QueryExpression(odata: text, for: nil, columns: columns) }
    }

    @Test("So it is in $orderby and $select") func lists() {
        let expected = TableQuery.SyntaxError(reason: "there is no column \"foo\"", position: 5)
        #expect(throws: expected) { try TableQuery.order(odata: "year,foo desc", for: nil, columns: columns) }
        #expect(throws: expected) { try TableQuery.select(odata: "year,foo", for: nil, columns: columns) }
    }
}
