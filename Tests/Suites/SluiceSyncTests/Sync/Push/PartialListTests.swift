import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Lists that leave out a property which the record by its id has, on wires that replace the record")
struct PartialListTests {
    private static let wires = [Dialect.azureV3, .datasync]

    /// A device whose server lists records without `notes`, if it is to.
    private func device(_ kind: StoreKind, _ dialect: Dialect, isPartial: Bool = true) async throws -> Device {
        let device = try await Device(kind, dialect: dialect)
        let ids = ["a", "b", "c"]
        device.server.seed("todos", ids.map { ["id": JSON($0), "n": 1, "notes": "kept", "none": .null] })
        if isPartial { hideNotes(device.server) }
        try await device.todos.pull(named: "all")
        #expect(try await device.local("a")?["notes"] == (isPartial ? nil : "kept"))
        device.server.clearLog()
        return device
    }

    private func hideNotes(_ model: ModelServer) {
        model.onRequest { request in
            let call = ModelCall(request)
            guard request.head.method == .get, call.id == nil, let query = try? call.query(),
                let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil)
            else { return .none }
            let rows = evaluator.apply(to: model.rows("todos").values.sorted { "\($0["id"]!)" < "\($1["id"]!)" })
            let page = rows.dropFirst(query.skip).prefix(query.top ?? 50).map { $0.without(["notes"]) }
            return .answer(.model(200, ["items": JSON(Array(page))]))
        }
    }

    @Test("an update keeps the property on the server", arguments: StoreKind.allCases, wires)
    func kept(_ kind: StoreKind, _ dialect: Dialect) async throws {
        let device = try await device(kind, dialect)
        for id in ["a", "b"] { try await device.todos.update(["id": JSON(id), "n": 2]) }
        #expect(try await device.context.push().isClean)
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "a", "n": 3])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "n": 3, "notes": "kept", "none": .null])
        #expect(device.remote("b")?["notes"] == "kept" && device.remote("b")?["n"] == 2)
    }

    /// Makes reads show the records with those values, in the versions that they have.
    private func rewrite(_ model: ModelServer, _ values: JSON) {
        model.onRequest { request in
            let call = ModelCall(request)
            guard request.head.method == .get, let query = try? call.query(),
                let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil)
            else { return .none }
            let rows = model.rows("todos").mapValues { $0.setting(values) }
            if let id = call.id { return .answer(.model(200, rows[id] ?? .null)) }
            return .answer(.model(200, ["items": JSON(Array(evaluator.apply(to: Array(rows.values))))]))
        }
    }

    @Test(
        "an update is made on what the server has changed without a new version, such as by a new column",
        arguments: wires)
    func rewritten(_ dialect: Dialect) async throws {
        let device = try await device(.memory, dialect, isPartial: false)
        rewrite(device.server, ["n": 77, "column": "new"])
        for id in ["a", "b"] { try await device.todos.update(["id": JSON(id), "notes": "mine"]) }
        #expect(try await device.context.push().isClean)
        for id in ["a", "b"] {
            #expect(device.remote(id) == ["id": JSON(id), "n": 77, "notes": "mine", "none": .null, "column": "new"])
        }
        // Where both have changed a property, somebody has to decide.
        try await device.todos.update(["id": "c", "n": 2])
        #expect(try await device.context.push().conflicts == 1)
        #expect(device.remote("c")?["n"] == 1)
    }

    @Test("a conflict is decided on the whole record", arguments: wires)
    func conflict(_ dialect: Dialect) async throws {
        let device = try await device(.memory, dialect)
        try await device.todos.update(["id": "a", "n": 2])
        #expect(try await device.context.push().isClean)
        try await device.todos.update(["id": "b", "n": 2])
        device.server.seed("todos", [["id": "b", "n": 9, "notes": "theirs"]])
        let held = try #require(try await device.context.push().failures.first)
        try await device.context.queue.resolve(held.id, .client)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("b")?["n"] == 2 && device.remote("b")?["notes"] == "theirs")
    }

    @Test("an undelete that replaces the record sends it whole")
    func undelete() async throws {
        let members = #""id":"a","n":1,"version":"v2","updatedAt":"2020-01-01T00:00:00.000Z""#
        let transport = ScriptedTransport([
            .json(200, #"{"items":[{\#(members),"deleted":true}]}"#),
            .json(200, #"{\#(members),"notes":"kept","deleted":true}"#),
            .json(200, #"{\#(members.replacing("v2", with: "v3")),"notes":"kept","deleted":false}"#),
        ])
        let client = SluiceClient(
            endpoint: testEndpoint, dialect: .datasync, transport: transport, options: quickOptions())
        let context = try await SyncContext(client: client, store: MemoryStore())
        try await context.table("todos").undelete(id: "a")
        #expect(try await context.push().isClean)
        #expect(transport.requests[1].head.path?.hasSuffix("/tables/todos/a?__includedeleted=true") == true)
        #expect(try transport.requests.last?.body.json == ["id": "a", "n": 1, "notes": "kept", "deleted": false])
    }

    @Test("an undelete by a list without versions does not prove that the list is whole")
    func afterUndelete() async throws {
        let device = try await Device(.memory, dialect: .datasync)
        let model = device.server
        model.seed("todos", ["a", "b"].map { ["id": JSON($0), "n": 1, "notes": "kept"] })
        model.softDelete("todos", "a")
        model.onRequest { request in
            let call = ModelCall(request)
            let rows = model.rows("todos")
            if call.id == "a", let row = rows["a"] {
                let isWrite = request.isWrite
                return .answer(.model(200, isWrite ? row.setting(["deleted": false, "version": "v9"]) : row))
            }
            guard request.head.method == .get, call.id == nil, let query = try? call.query(),
                let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil)
            else { return .none }
            let listed = evaluator.apply(to: rows.values.sorted { "\($0["id"]!)" < "\($1["id"]!)" })
            let page = listed.dropFirst(query.skip).prefix(query.top ?? 50).map { $0.without(["notes", "version"]) }
            return .answer(.model(200, ["items": JSON(Array(page))]))
        }
        try await device.todos.pull(named: "all")
        try await device.todos.undelete(id: "a")
        let pushed = try await device.context.push()
        #expect(pushed.isClean, "\(pushed) \(model.calls)")
        let sent = try #require(model.requests.last { $0.isWrite })
        #expect(try sent.body.json["notes"] == "kept" && sent.head.headerFields[.ifMatch] != nil)
        #expect(device.context.partialLists.isPartial("todos") == true)
        try await device.todos.update(["id": "b", "n": 2])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("b")?["notes"] == "kept" && device.remote("b")?["n"] == 2)
    }

    @Test(
        "where lists are whole, records are read by their ids until that is known of each property's values",
        arguments: wires)
    func whole(_ dialect: Dialect) async throws {
        let device = try await device(.memory, dialect, isPartial: false)
        device.server.seed("todos", ["d", "e"].map { ["id": JSON($0), "n": 1, "notes": "kept", "none": .null] })
        device.server.seed("todos", [["id": "long", "n": 1, "notes": "longer than the others", "none": .null]])
        try await device.todos.pull(named: "all")
        device.server.clearLog()
        // By the id and from the list: three for null, and one for the longer text.
        for (id, count) in [("a", 2), ("b", 4), ("c", 6), ("d", 6), ("e", 6), ("long", 8)] {
            try await device.todos.update(["id": JSON(id), "n": 2])
            #expect(try await device.context.push().isClean)
            #expect(device.server.requests.filter { $0.head.method == .get }.count == count)
        }
    }

    @Test("lists that cut long texts, or show null, in some rows alone", arguments: wires, [JSON("begin…"), .null])
    func cut(_ dialect: Dialect, _ cut: JSON) async throws {
        let device = try await Device(.memory, dialect: dialect)
        let model = device.server
        model.seed("todos", [["id": "a", "notes": "short"], ["id": "b", "notes": "begins, and ends"]])
        model.onRequest { request in
            let call = ModelCall(request)
            guard request.head.method == .get, call.id == nil, let query = try? call.query(),
                let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil)
            else { return .none }
            var rows = evaluator.apply(to: model.rows("todos").values.sorted { "\($0["id"]!)" < "\($1["id"]!)" })
            for index in rows.indices where rows[index]["notes"] != "short" { rows[index]["notes"] = cut }
            return .answer(.model(200, ["items": JSON(Array(rows.dropFirst(query.skip).prefix(query.top ?? 50)))]))
        }
        try await device.todos.pull(named: "all")
        for id in ["a", "b"] {
            try await device.todos.update(["id": JSON(id), "n": 2])
            #expect(try await device.context.push().isClean)
        }
        #expect(device.remote("b")?["notes"] == "begins, and ends" && device.remote("b")?["n"] == 2)
    }

    @Test("where the read by id fails once, the update waits and keeps the property", arguments: wires, [404, 500])
    func failsOnce(_ dialect: Dialect, _ status: Int) async throws {
        let device = try await device(.memory, dialect, isPartial: false)
        let model = device.server
        let reads = Counter()
        model.onRequest { request in
            guard request.head.method == .get else { return .none }
            let call = ModelCall(request)
            if call.id != nil { return reads.next() == 1 ? .answer(.json(status, "")) : .none }
            let rows = model.rows("todos").values.filter { $0["id"] == "a" }.map { $0.without(["notes"]) }
            return .answer(.model(200, ["items": JSON(rows)]))
        }
        let name = device.todos.name
        try await device.store.write { writer in
            guard let row = try writer.record("a", in: name) else { return }
            try writer.put(row.without(["notes"]), in: name)
        }
        try await device.todos.update(["id": "a", "n": 2])
        let failure = try #require(try await device.context.push().failures.first?.failure)
        #expect(failure.code == "serverFailure" && device.remote("a")?["n"] == 1)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "n": 2, "notes": "kept", "none": .null])
    }

    @Test("a server whose lists ignore the filter gets the update all the same", arguments: wires)
    func ignoredFilter(_ dialect: Dialect) async throws {
        let device = try await device(.memory, dialect, isPartial: false)
        let model = device.server
        model.onRequest { request in
            guard request.head.method == .get, ModelCall(request).id == nil else { return .none }
            return .answer(.model(200, ["items": JSON(model.rows("todos").values.filter { $0["id"] != "a" })]))
        }
        try await device.todos.update(["id": "a", "n": 2])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 2)
    }

    @Test("a server that does not answer by id gets the update all the same", arguments: [404, 405, 501])
    func notByID(_ status: Int) async throws {
        let device = try await device(.memory, .datasync, isPartial: false)
        device.server.onRequest { $0.head.method == .get ? .answer(.json(status, "")) : .none }
        try await device.todos.update(["id": "a", "n": 2])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 2)
    }

    @Test("after a conflict that showed a whole record, the other updates keep the property", arguments: wires)
    func afterConflict(_ dialect: Dialect) async throws {
        let device = try await Device(.memory, policy: .clientWins, dialect: dialect)
        device.server.seed("todos", ["a", "b"].map { ["id": JSON($0), "n": 1, "notes": "kept"] })
        hideNotes(device.server)
        try await device.todos.pull(named: "all")
        device.server.seed("todos", [["id": "a", "n": 5]])
        for id in ["a", "b"] { try await device.todos.update(["id": JSON(id), "n": 2]) }
        #expect(try await device.context.push().isClean)
        for id in ["a", "b"] { #expect(device.remote(id) == ["id": JSON(id), "n": 2, "notes": "kept"]) }
    }
}
