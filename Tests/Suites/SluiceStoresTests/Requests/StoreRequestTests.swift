import SluiceCore
import SluiceOData
import SluiceStores
import SluiceTesting
import Testing

@Suite("Addresses of stores") struct StoreRequestTests {
    private static func root() throws -> ServiceRoot {
        ServiceRoot(
            SluiceClient(
                endpoint: try Endpoint("https://example.net/svc"), dialect: .odataV4, transport: ScriptedTransport([])))
    }

    @Test(
        "keys are read by the grammar of addresses, not cut at characters",
        arguments: [
            ("Customers('1')", "1"), ("Customers(1)", "1"), ("Customers(id='1')", "1"), ("Customers('a(b)c')", "a(b)c"),
            ("Customers('a/b')", "a/b"), ("Customers('a%2Fb')", "a/b"), ("Customers('why?')", "why?"),
            ("Customers('O''Brien')", "O'Brien"), ("Customers('O%27%27Brien')", "O'Brien"),
            ("Customers('a%20b')", "a b"), ("Customers('a+b')", "a+b"), ("Customers('50%25')", "50%"),
            ("Customers('%C3%A9')", "é"), ("Customers%28'x'%29", "x"), ("Customers('a,b')", "a,b"),
            ("Customers(6F9619FF-8B86-D011-B42D-00C04FC964FF)", "6F9619FF-8B86-D011-B42D-00C04FC964FF"),
            ("Orders(Order=1,Item='10')", "Order=1,Item='10'"), ("Customers('')", ""),
        ])
    func keys(_ address: String, _ key: String) throws {
        let request = try StoreRequest(odata: address)
        #expect(request.path.segments.count == 1)
        #expect(request == StoreRequest(request.path))
        #expect(request.path.segments[0].recordID == .string(key))
    }

    @Test(
        "relative, rooted and whole addresses are the same",
        arguments: [
            "Customers('1')/Orders?$top=5", "/Customers('1')/Orders?$top=5", "Customers('1')/Orders/?$top=5",
            "/svc/Customers('1')/Orders?$top=5", "https://example.net/svc/Customers('1')/Orders?$top=5",
            "HTTPS://EXAMPLE.net:443/svc/Customers('1')//Orders/?$top=5",
        ])
    func forms(_ address: String) throws {
        let request = try StoreRequest(odata: address, service: Self.root())
        #expect(request.path.segments.map(\.name) == ["Customers", "Orders"])
        #expect(request.options.top == 5)
    }

    @Test(
        "what is no address of the service is refused",
        arguments: [
            "", "/", "?$top=5", "Customers('1", "Customers('1'", "Customers(1", "Customers('1')'", "Customers(==)",
            "Customers#x", "https://other.net/svc/Customers", "https://example.net/other/Customers",
            "//other/Customers",
            "Customers?$top=x", "Customers?$nosuch=1", "Cu(", "../admin", "Customers/%2E%2E/x", "a/./b",
        ])
    func refused(_ address: String) throws {
        #expect(throws: SluiceError.self) { try StoreRequest(odata: address, service: Self.root()) }
    }

    @Test("short paths are paths like others", arguments: ["C", "Cu", "Cus", "C('1')"])
    func short(_ address: String) throws {
        #expect(try StoreRequest(odata: address).path.segments.count == 1)
    }

    @Test("an address with a very long path is refused, not followed")
    func long() {
        #expect(throws: SluiceError.self) {
            try StoreRequest(odata: Array(repeating: "a", count: 100).joined(separator: "/"))
        }
        #expect(throws: SluiceError.self) { try StoreRequest(odata: String(repeating: "a", count: 200_000)) }
    }

    @Test("a query is the same request as its address")
    func query() throws {
        var query = TableQuery(
            "Agencies", order: [.init("Rank")], skip: 2, top: 3, select: ["Rank"], includesCount: true)
        query.filter = try QueryExpression(odata: "Country eq 'US'")
        let address = "Agencies?$filter=Country eq 'US'&$orderby=Rank&$skip=2&$top=3&$select=Rank&$count=true"
        #expect(try StoreRequest(query) == StoreRequest(odata: address))
    }
}
