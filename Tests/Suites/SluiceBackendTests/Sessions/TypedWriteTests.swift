import Foundation
import Sluice
import Testing

@testable import SluiceBackend

/// Columns that a type does not declare, on every wire: tables backends' and OData's.
@Suite("Typed writes and the columns that the type does not declare") struct TypedWriteTests {
    /// What an older version of a program knows of a customer.
    struct Customer: SyncRecord {
        static let tableName = "customers"
        static let columns: ColumnMap<Customer> = [\.id: "id", \.name: "name"]
        var id: String
        var name: String
    }

    enum Write: String, CaseIterable, CustomTestStringConvertible {
        case whole, closure, keyPath, transaction, conflict
        var testDescription: String { rawValue }
    }

    /// The columns that it does not know. OData v2 has no lists: there JSON is a text.
    private static func others(_ dialect: Dialect) -> JSON {
        let tags: JSON = ["a", ["n": 1]]
        return [
            "points": 9_007_199_254_740_993, "rate": 1.25, "active": true, "since": "2024-01-31T10:00:00.125Z",
            "tags": dialect.name == Dialect.odataV2.name ? JSON(tags.description) : tags, "owner": "größe '日本'",
        ]
    }

    private struct Line: Transport {
        let backend: Backend
        func send(_ request: SyncRequest) async throws -> SyncResponse { await backend.respond(to: request) }
    }

    private func device(
        _ dialect: Dialect, _ fixture: ODataFixture, handlers: [any ConflictHandler] = []
    ) async throws -> SyncContext {
        let root =
            switch dialect.name {
            case Dialect.odataV2.name: "/odata/v2"
            case Dialect.odataV4.name: "/odata/v4"
            default: ""
            }
        let client = SluiceClient(
            endpoint: try Endpoint("http://127.0.0.1:8080\(root)"), dialect: dialect,
            transport: Line(backend: fixture.base.backend), options: ClientOptions(retry: .never))
        return try await SyncContext(
            client: client, store: MemoryStore(), options: SyncOptions(conflictHandlers: handlers))
    }

    /// The columns that the type does not declare, as the device has them.
    private func kept(_ others: JSON, _ context: SyncContext) async throws -> JSON {
        let record = try #require(try await context.table("customers").lookup(id: "c"))
        return JSON(members: others.names.compactMap { name in record[name].map { (name, $0) } })
    }

    private func push(_ context: SyncContext) async throws {
        let result = try await context.push()
        #expect(result.isClean, "\(result.failures.map { $0.failure?.message ?? "" })")
    }

    @Test(
        "survive each way to write, here and on the server", arguments: Dialect.known.map(\.name), Write.allCases)
    func survive(_ name: String, _ write: Write) async throws {
        let dialect = try Dialect(known: name)
        let others = Self.others(dialect)
        let fixture = try await ODataFixture()
        let newer = try await device(dialect, fixture)
        try await newer.table("customers").insert(others.setting(["id": "c", "name": "old"]))
        try await push(newer)

        let handler = ConflictClosure(Customer.self) { conflict in
            guard var merged = conflict.client, let server = conflict.server else { return .next }
            merged.name = "\(merged.name) and \(server.name)"
            return try conflict.merge(merged)
        }
        let older = try await device(dialect, fixture, handlers: [handler])
        let customers = try older.table(Customer.self)
        try await customers.pull(named: "all")
        #expect(try await kept(others, older) == others, "as they came over the wire")
        var wanted = "new"
        switch write {
        case .whole:
            var customer = try #require(try await customers.lookup(id: "c"))
            customer.name = "new"
            try await customers.update(customer)
        case .closure: try await customers.update(id: "c") { $0.name = "new" }
        case .keyPath: try await customers.update(id: "c", set: \.name, to: "new")
        case .transaction:
            try await older.write { transaction in
                let customers = try transaction.table(Customer.self)
                for customer in try customers.records(where: #Predicate { $0.name == "old" }) {
                    try customers.update(id: customer.id, set: \.name, to: "new")
                }
            }
        case .conflict:
            try await newer.table("customers").pull(named: "all")
            try await newer.table("customers").update(["id": "c", "name": "theirs"])
            try await push(newer)
            try await customers.update(id: "c", set: \.name, to: "new")
            wanted = "new and theirs"
        }
        #expect(try await kept(others, older) == others, "in the local store")
        try await push(older)
        #expect(try await kept(others, older) == others, "in the local store after the push")
        try await newer.table("customers").pull(named: "all")
        #expect(try await kept(others, newer) == others, "on the server")
        #expect(try await newer.table("customers").lookup(id: "c")?["name"] == JSON(wanted))
    }
}
