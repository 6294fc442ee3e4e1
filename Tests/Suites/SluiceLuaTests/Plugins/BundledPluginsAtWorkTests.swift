import Foundation
import HTTPTypes
import RepositoryFiles
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("The plugins that come with Sluice, between an engine and a server")
struct BundledPluginsAtWorkTests {
    /// A device with one of them.
    struct Device {
        let server: ModelServer
        let context: SyncContext
        let rows: SyncTable<JSON>

        init(
            _ name: String, _ config: JSON, _ server: ModelServer = ModelServer(), beside other: PluginBundle? = nil
        ) async throws {
            self.server = server
            let bundle = try PluginBundle(folder: BundledPluginsTests.folder.appendingPathComponent(name).path)
            let others = try other.map { [try PluginPlan($0)] } ?? []
            let plugins = try await Plugins(
                [try PluginPlan(bundle, config: config)] + others,
                options: PluginOptions(secret: { _ in "a long random key" }))
            var options = ClientOptions()
            options.retry = .never
            let client = SluiceClient(
                endpoint: try Endpoint("http://model.test"), transport: server, filters: [plugins.filter],
                options: options)
            var sync = SyncOptions(conflictHandlers: [])
            sync.commitLag = .zero
            context = try await SyncContext(client: client, store: MemoryStore(), options: plugins.added(to: sync))
            rows = try context.table("t")
        }

        func push() async throws { _ = try await context.push() }
        func pull() async throws { _ = try await context.pull(TableQuery("t"), named: "all") }
        func waiting() async throws -> [TableOperation] { try await context.queue.operations() }
        func local(_ name: String, of id: String = "1") async throws -> JSON? { try await rows.lookup(id: id)?[name] }
        func remote(_ name: String, of id: String = "1") -> JSON? { server.rows("t")[RecordID(id)]?[name] }
    }

    @Test("pii-redact: the server never sees the value, and the device keeps it through pushes, pulls and conflicts")
    func redaction() async throws {
        let device = try await Device(
            "pii-redact", ["tables": ["t": ["email": "hash", "phone": "mask", "note": "remove"]], "key": "k"])
        try await device.rows.insert(["id": "1", "name": "Ann", "email": "a@b.c", "phone": "0171", "note": "x"])
        func isWhole() async throws -> Bool {
            let record = try await device.rows.lookup(id: "1")
            return record?["email"] == "a@b.c" && record?["phone"] == "0171" && record?["note"] == "x"
        }
        try await device.push()
        let pseudonym = try #require(device.remote("email")?.string)
        #expect(pseudonym.hasPrefix("pii_") && device.remote("phone") == "***" && device.remote("name") == "Ann")
        #expect((device.remote("note") ?? .null).isNull)
        #expect(try await isWhole())
        try await device.pull()
        #expect(try await isWhole())

        // Another client edits another field while one is edited here.
        device.server.seed("t", [["id": "1", "city": "Bonn"]])
        try await device.rows.update(["id": "1", "name": "Anna"])
        try await device.push()
        for operation in try await device.waiting() {
            let conflict = try await device.context.queue.copies(of: operation)
            #expect(conflict.mirror?["email"] == "a@b.c")
            try await device.context.queue.resolve(operation.id, .client)
        }
        try await device.push()
        try await device.pull()
        #expect(try await isWhole())
        #expect(device.remote("name") == "Anna" && device.remote("email")?.string == pseudonym)
        #expect(device.server.requests.allSatisfy { !String(decoding: $0.body.bytes, as: UTF8.self).contains("a@b.c") })

        // What another client writes there stands.
        device.server.seed("t", [["id": "1", "email": "new@b.c"]])
        try await device.pull()
        #expect(try await device.local("email") == "new@b.c")
    }

    @Test(
        "schema-bridge: the store has the application's names and values, the server its own, also after a lost answer")
    func bridge() async throws {
        let device = try await Device(
            "schema-bridge",
            [
                "tables": [
                    "t": [
                        "title": ["server": "text"], "done": ["server": "complete", "convert": "boolean_as_number"],
                        "state": ["convert": "values", "values": ["open": 1, "closed": 2]],
                    ]
                ]
            ])
        try await device.rows.insert(["id": "1", "title": "milk", "done": false, "state": "open"])
        device.server.onRequest { $0.head.method == .post ? .loseAnswer : .none }
        try await device.push()
        #expect(try await device.waiting().count == 1)
        device.server.onRequest(nil)
        try await device.push()
        #expect(try await device.waiting().isEmpty)
        #expect(device.remote("text") == "milk" && device.remote("complete") == 0 && device.remote("state") == 1)
        #expect(device.remote("title") == nil)
        try await device.rows.update(["id": "1", "done": true])
        try await device.push()
        #expect(device.remote("complete") == 1 && device.remote("text") == "milk")
        device.server.seed("t", [["id": "1", "state": 2], ["id": "2", "text": "tea", "complete": 1, "state": 7]])
        try await device.pull()
        #expect(try await device.local("state") == "closed")
        let pulled = try await device.rows.lookup(id: "2")
        #expect(pulled?["title"] == "tea" && pulled?["state"] == 7 && pulled?["text"] == nil && pulled?["done"] == true)
    }

    @Test("tenant-scope: records of another tenant are neither stored nor written, and tombstones arrive")
    func tenant() async throws {
        let device = try await Device("tenant-scope", ["tenant": "n"])
        device.server.seed("t", [["id": "1", "tenantId": "n"], ["id": "2", "tenantId": "m"]])
        try await device.pull()
        #expect(try await device.local("tenantId") == "n")
        #expect(try await device.rows.lookup(id: "2") == nil)
        try await device.rows.insert(["id": "3"])
        try await device.push()
        #expect(device.remote("tenantId", of: "3") == "n")
        let error = await #expect(throws: SluiceError.self) {
            try await device.rows.update(["id": "1", "tenantId": "m"])
        }
        #expect(error?.refusal?.code == "foreign_tenant")
        let field = try #require(HTTPField.Name("X-Tenant"))
        #expect(device.server.requests.allSatisfy { $0.head.headerFields[field] == "n" })
    }

    @Test("counter-merge: two devices count, and both countings stand")
    func counter() async throws {
        let server = ModelServer()
        server.seed("t", [["id": "1", "stock": 10]])
        let config: JSON = ["counters": ["stock": ["minimum": 0]]]
        let (first, second) = (
            try await Device("counter-merge", config, server), try await Device("counter-merge", config, server)
        )
        for device in [first, second] { try await device.pull() }
        try await first.rows.update(["id": "1", "stock": 7])
        try await second.rows.update(["id": "1", "stock": 6])
        for device in [first, second] { try await device.push() }
        #expect(first.remote("stock") == 3)
        #expect(try await second.waiting().isEmpty)
        // A sum below the bound is someone's to decide, and nothing is lost.
        try await first.pull()
        try await first.rows.update(["id": "1", "stock": 1])
        try await second.rows.update(["id": "1", "stock": 0])
        for device in [first, second] { try await device.push() }
        #expect(first.remote("stock") == 1)
        #expect(try await second.waiting().count == 1)
        #expect(try await second.local("stock") == 0)
    }

    @Test(
        "counter-merge: a later counting is added too, and one beside a plugin that chooses goes on top of its choice")
    func laterCounting() async throws {
        let choice = try PluginBundle.handler("return c:merge { stock = function() return 30 end }")
        for (other, stock) in [(nil, 14), (choice, 13)] as [(PluginBundle?, JSON)] {
            let server = ModelServer()
            server.seed("t", [["id": "1", "stock": 10]])
            let counters: JSON = other == nil ? ["stock": [:]] : ["likes": [:]]
            let device = try await Device("counter-merge", ["counters": counters], server, beside: other)
            try await device.pull()
            try await device.rows.update(["id": "1", "stock": 11])
            try await device.rows.update(["id": "1", "stock": 13], options: OperationOptions(isMergeable: false))
            server.seed("t", [["id": "1", "stock": other == nil ? 11 : 12]])
            for _ in 0..<3 { try await device.push() }
            #expect(device.remote("stock") == stock)
            #expect(try await device.local("stock") == stock)
            #expect(try await device.waiting().isEmpty)
        }
    }

    @Test("audit-trail: what is sent has its entry, and a change says who made it")
    func audit() async throws {
        let device = try await Device("audit-trail", ["who": "ann"])
        try await device.rows.insert(["id": "1", "a": 1])
        try await device.push()
        let field = try #require(HTTPField.Name("X-Audit-Entry"))
        let sent = try #require(device.server.requests.first { $0.head.method == .post })
        #expect(sent.head.headerFields[field]?.hasPrefix("1 ") == true)
        #expect(device.remote("changedBy") == "ann" && device.remote("changedAt") != nil)
    }

    @Test("audit-trail: the module of the chain finds the first entry that does not follow from the one before it")
    func chain() async throws {
        let folder = Repository.path("Plugins/audit-trail")
        let module = String(decoding: try PluginBundle(folder: folder).files["lib/chain.lua"] ?? [], as: UTF8.self)
        let main = #"""
            local chain = require("lib.chain")

            local function entries()
              local list, previous = {}, chain.start
              for n, text in ipairs { "first", "second", "third" } do
                previous = chain.hash(text, previous)
                list[n] = { n = n, text = text, hash = previous }
              end
              return list
            end

            local function on_event(event, ctx)
              local changed, taken, late = entries(), entries(), entries()
              changed[2].text = "another"
              table.remove(taken, 2)
              local before = table.remove(late, 1).hash
              ctx.log.info("whole " .. tostring((chain.first_fault(entries(), chain.start))))
              ctx.log.info("changed " .. tostring((chain.first_fault(changed, chain.start))))
              ctx.log.info("taken " .. tostring((chain.first_fault(taken, chain.start))))
              ctx.log.info("late " .. tostring((chain.first_fault(late, before))))
            end

            return { on_event = on_event }
            """#
        let bundle = try PluginBundle.sample(["on_event"], main, files: ["lib/chain.lua": module])
        let fixture: JSON = [
            "name": "a", "hook": "on_event", "given": ["event": ["kind": "status"]],
            "expect": ["log": ["whole nil", "changed 2", "taken 3", "late nil"]],
        ]
        let result = await FixtureRunner(bundle).run(try PluginFixture(fixture, path: "tests/a.json"))
        #expect(result.differences == [])
    }
}
