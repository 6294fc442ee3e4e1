import SluiceBase
import SluiceOData
import SluiceWire
import Testing

@Suite("keys of OData entities")
struct EntityKeyTests {
    private let orders: EntitySet
    private let items: EntitySet

    init() throws {
        orders = try EntitySet("Orders", key: [.init("Number", .string)])
        items = try EntitySet("Items", key: [.init("Order", .string), .init("Item", .int32)])
    }

    @Test(
        "a key may hold whatever a text may",
        arguments: ["1", "O'Brien", "a/b?c#d", "100%", "(x)", "a,b=c", "ä€", "'", "", "\u{5AC}a", "a\u{600}"])
    func single(_ id: String) throws {
        let key = try #require(EntityKey(id: .string(id), in: orders))
        let predicate = key.predicate(in: orders, version: .v2)
        #expect(predicate == "'\(id.replacing("'", with: "''"))'")
        #expect(EntityKey(predicate: predicate, in: orders) == key)
        #expect(EntityKey(address: "http://other/Orders(\(PercentEncoding.query(predicate)))", in: orders) == key)
        #expect(key.id(in: orders) == .string(id))
    }

    @Test("a key of several properties is a text in their order", arguments: ["4711", "4,7='1'", "x)"])
    func composite(_ order: String) throws {
        let row: JSON = ["Item": 10, "Order": JSON(order), "Text": "x"]
        let key = try #require(EntityKey(row: row, in: items, version: .v4))
        #expect(key.id(in: items).text == "Order='\(order.replacing("'", with: "''"))',Item=10")
        #expect(EntityKey(id: key.id(in: items), in: items) == key)
        let turned = "Item=10,Order='\(order.replacing("'", with: "''"))'"
        #expect(EntityKey(predicate: turned, in: items) == key)
    }

    @Test(
        "the key of an address is that of its last parentheses, whatever the host",
        arguments: [
            ("http://other.example:8420/svc/Orders('a%2Fb')", "a/b"), ("Orders('O''Brien')", "O'Brien"),
            ("/svc/Customers('x(1)')/Orders('y')?$select=Number", "y"), ("Orders(Number='a+b')", "a+b"),
        ])
    func addresses(_ address: String, _ id: String) {
        #expect(EntityKey(address: address, in: orders)?.id(in: orders) == .string(id))
    }

    @Test(
        "what is no key of the set is none",
        arguments: ["Orders", "Orders('a", "Orders(a)", "Orders('a','b')", "Orders('a')/Items", "Orders('a'b')", ""])
    func noKeys(_ address: String) {
        #expect(EntityKey(address: address, in: orders) == nil)
    }

    @Test(
        "equal values are one key, in each spelling",
        arguments: [
            (EdmPrimitive.decimal, ["3.50", "3.5", "03.500", "+3.5"], "3.5"),
            (.decimal, ["0.0", "-0", "0", ".0"], "0"),
            (.decimal, ["-120.00", "-120", "-1.2e2", "-12E+1"], "-120"),
            (.decimal, ["1e-07", "0.0000001", "10e-8"], "0.0000001"), (.decimal, ["2.5e0", "0.25E1"], "2.5"),
            (.int64, ["7", "007"], "7"),
            (
                .dateTimeOffset,
                [
                    "2024-01-02T00:00:00.000000Z", "2024-01-02T00:00:00Z", "2024-01-02T00:00:00+00:00",
                    "2024-01-02T01:00:00+01:00",
                ],
                "2024-01-02T00:00:00Z"
            ),
            (.guid, ["0190B0F3-1F2E-7000-8000-00000000000A"], "0190b0f3-1f2e-7000-8000-00000000000a"),
        ] as [(EdmPrimitive, [String], String)])
    func spellings(_ type: EdmPrimitive, _ spellings: [String], _ one: String) throws {
        let set = try EntitySet("Things", key: [.init("Key", type)])
        for text in spellings {
            #expect(EntityKey(id: .string(text), in: set)?.id(in: set) == .string(one), "\(text)")
            #expect(EntityKey(address: "Things(\(PercentEncoding.query(text)))", in: set)?.id(in: set) == .string(one))
            let value = EdmValue.json(plain: text, type: type)
            #expect(EntityKey(row: ["Key": value], in: set, version: .v4)?.id(in: set) == .string(one), "\(value)")
        }
    }

    @Test("a text that is no decimal is no key", arguments: [".", "-", "-.", "e5", "1e", "1.2.3", "1e4.5", "", "x"])
    func noDecimals(_ id: String) throws {
        let set = try EntitySet("Things", key: [.init("Key", .decimal)])
        #expect(EntityKey(id: .string(id), in: set) == nil)
    }

    @Test("an id that the key's type cannot have is none", arguments: ["Order='1'", "Order='1',Item=x", "Item=1", "1"])
    func noIDs(_ id: String) {
        #expect(EntityKey(id: .string(id), in: items) == nil)
    }

    @Test("a set without a key, with one that no address can hold, or with two names for one column is refused")
    func refusals() {
        #expect(throws: SluiceError.self) { try EntitySet("S", key: []) }
        #expect(throws: SluiceError.self) { try EntitySet("S", key: [.init("K", .double)]) }
        #expect(throws: SluiceError.self) {
            try EntitySet("S", key: [.init("K", .string)], properties: [.init("id", .string), .init("ID", .string)])
        }
    }
}
