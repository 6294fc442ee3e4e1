import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceBackend
@testable import SluiceBase
@testable import SluiceWire

/// Generated filters along links, over generated records: the backend finds what the evaluator finds.
@Suite struct ODataLinkDifferentialTests {
    private static let customers = TableSchema(
        "customers",
        columns: [
            .init("name", .string), .init("points", .integer), .init("rate", .real), .init("active", .boolean),
            .init("since", .date), .init("tags", .json), .init("owner", .string),
        ], references: [.init("orders", toMany: "orders", where: "customerId")])
    private static let orders = TableSchema(
        "orders", columns: [.init("customerId", .string), .init("total", .integer), .init("owner", .string)],
        references: [.init("customer", to: "customers", by: "customerId")])

    private struct Relations: TableQuery.Relations {
        var tables: [String: [JSON]]

        func schema(of table: String) -> TableSchema? {
            table == "customers" ? ODataLinkDifferentialTests.customers : ODataLinkDifferentialTests.orders
        }
        func records(of table: String, where column: PropertyName, equals value: JSON) -> [JSON] {
            (tables[table] ?? []).filter { $0[column] == value }
        }
    }

    /// Makes records and filters.
    private struct Generator {
        var chance: SeededGenerator

        mutating func one<Value>(_ values: [Value]) -> Value {
            values[Int.random(in: 0..<values.count, using: &chance)]
        }
        mutating func rarely() -> Bool { Int.random(in: 0..<4, using: &chance) == 0 }
        mutating func number() -> Int { Int.random(in: 0...4, using: &chance) }

        mutating func customer(_ id: String) -> JSON {
            var record: JSON = ["id": JSON(id)]
            if !rarely() { record["name"] = JSON(one(["a", "b", "B", "a'", "hidden", ""])) }
            if !rarely() { record["points"] = JSON(number()) }
            if !rarely() { record["rate"] = JSON(Double(number()) / 2 + 0.25) }
            if !rarely() { record["active"] = JSON(one([true, false])) }
            if !rarely() { record["since"] = JSON("2024-0\(number() + 1)-01T00:00:00.000Z") }
            if !rarely() { record["tags"] = one([["a", "b"], ["color": "red"], [], 1]) }
            if !rarely() { record["note"] = one(["x", 2, true, .null]) }
            return record
        }

        mutating func order(_ id: String) -> JSON {
            var record: JSON = ["id": JSON(id)]
            if !rarely() { record["customerId"] = JSON(one(["c0", "c1", "c2", "c3", "c9"])) }
            if !rarely() { record["total"] = JSON(number()) }
            if !rarely() { record["note"] = one(["x", 2, true, .null]) }
            return record
        }

        mutating func comparison() -> String { one(["eq", "ne", "gt", "ge", "lt", "le"]) }

        /// A condition about a customer, who is reached by `way`.
        mutating func aboutCustomer(_ way: String, many: Bool, _ depth: Int) -> String {
            switch Int.random(in: 0..<(many && depth > 0 ? 16 : 10), using: &chance) {
            case 0: return "\(way)points \(comparison()) \(number())"
            case 1: return "\(way)name \(comparison()) '\(one(["a", "b", "a''", "hidden"]))'"
            case 2: return "\(way)since \(comparison()) 2024-03-01T00:00:00Z"
            case 3: return "\(way)active"
            case 4: return "\(way)rate add \(way)points gt 2.5"
            case 5: return "\(way)tags/color eq 'red'"
            case 6: return "\(way)note eq \(one(["'x'", "2", "true", "null"]))"
            case 7: return "\(way)name eq null"
            case 8: return "contains(\(way)name,'a') and \(way)points in (1,2,3)"
            case 9: return "\(way)id \(comparison()) 'c1'"
            case 10: return "\(way)orders/any()"
            case 11: return "\(way)orders/$count \(comparison()) \(number())"
            case 12: return "\(way)orders/$count($filter=\(aboutOrder("", many: false, depth - 1))) \(comparison()) 1"
            case 13 where way.isEmpty: return "orders/any(o:o/total \(comparison()) points or o/note eq note)"
            case 13, 14: return "\(way)orders/any(o:\(aboutOrder("o/", many: false, depth - 1)))"
            default: return "\(way)orders/all(o:\(aboutOrder("o/", many: false, depth - 1)))"
            }
        }

        mutating func aboutOrder(_ way: String, many: Bool, _ depth: Int) -> String {
            switch Int.random(in: 0..<(depth > 0 ? 8 : 4), using: &chance) {
            case 0: return "\(way)total \(comparison()) \(number())"
            case 1: return "\(way)note eq \(one(["'x'", "2", "true", "null"]))"
            case 2: return "\(way)customerId eq \(one(["'c1'", "null"]))"
            case 3: return "not (\(way)total gt 2)"
            default: return aboutCustomer("\(way)customer/", many: many, depth - 1)
            }
        }

        mutating func filter(ofOrders: Bool) -> String {
            func term(_ generator: inout Generator) -> String {
                let text =
                    ofOrders ? generator.aboutOrder("", many: true, 4) : generator.aboutCustomer("", many: true, 4)
                return generator.rarely() ? "not (\(text))" : "(\(text))"
            }
            var text = term(&self)
            for _ in 0..<Int.random(in: 0...2, using: &chance) { text += " \(one(["and", "or"])) \(term(&self))" }
            return text
        }
    }

    @Test("the backend finds what the evaluator finds", arguments: 0..<12)
    func same(_ seed: Int) async throws {
        var generator = Generator(chance: SeededGenerator(seed: UInt64(seed + 1)))
        let fixture = try await ODataFixture()
        var tables: [String: [JSON]] = ["customers": [], "orders": []]
        for number in 0..<6 { tables["customers"]?.append(generator.customer("c\(number)")) }
        for number in 0..<14 { tables["orders"]?.append(generator.order("o\(number < 10 ? "0" : "")\(number)")) }
        for (table, records) in tables {
            for record in records {
                let answer = await fixture.v4(.post, table, record.description)
                try #require(answer.status == 201, "\(record): \(answer.text)")
            }
        }
        // What the view hides is there for no query.
        tables["customers"]?.removeAll { $0["name"] == "hidden" }
        var found = 0
        for _ in 0..<60 {
            let ofOrders = generator.rarely() || generator.rarely()
            let table = ofOrders ? "orders" : "customers"
            let text = generator.filter(ofOrders: ofOrders)
            let query = TableQuery(table, filter: try QueryExpression(odata: text))
            let evaluator = try TableQuery.Evaluator(
                query, schema: ofOrders ? Self.orders : Self.customers, relations: Relations(tables: tables))
            let expected = evaluator.apply(to: tables[table] ?? []).compactMap { $0["id"]?.string }
            let answer = await fixture.v4(.get, "\(table)?$filter=\(PercentEncoding.query(text))")
            #expect(answer.keys == expected, "seed \(seed): \(text): \(answer.text)")
            found += expected.count
        }
        #expect(found > 60, "the filters are no test if they find nothing")
    }
}
