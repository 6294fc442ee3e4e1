import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Versions that the server has in the ETag field alone, and not in its lists")
struct HiddenVersionTests {
    private static let wires = [Dialect.azureV1, .azureV2, .azureV3, .datasync]

    /// A device whose server names versions in the `ETag` field of a record by its id alone, or nowhere.
    private func device(
        _ dialect: Dialect, policy: ConflictPolicy = .hold, isTagged: Bool = true
    ) async throws -> Device {
        let device = try await Device(.memory, policy: policy, dialect: dialect)
        let ids = ["a", "b", "c"]
        device.server.seed("todos", ids.map { ["id": JSON($0), "n": 1, "text": "old"] })
        hideVersions(device.server, dialect, isTagged)
        try await device.todos.pull(named: "all")
        #expect(try await device.local("a")?[dialect.columns.version] == nil)
        device.server.clearLog()
        return device
    }

    private func hideVersions(
        _ model: ModelServer, _ dialect: Dialect, _ isTagged: Bool, leavesOutNull: Bool = false,
        listHides hidden: [PropertyName] = []
    ) {
        @Sendable func shown(_ row: JSON, _ hidden: [PropertyName]) -> JSON {
            JSON(
                members: (row.members ?? []).filter { name, value in
                    name != "version" && !hidden.contains(name) && !(leavesOutNull && value.isNull)
                }.map { ($0.name, $0.value) })
        }
        model.onRequest { request in
            let call = ModelCall(request)
            guard request.head.method == .get else { return .none }
            if let id = call.id {
                guard let row = model.rows("todos")[id] else { return .answer(.json(404, "")) }
                let tag = row["version"]?.string
                return .answer(.model(200, shown(row, []), version: isTagged ? tag : nil))
            }
            guard let query = try? call.query(),
                let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil)
            else { return .none }
            let rows = evaluator.apply(to: model.rows("todos").values.sorted { "\($0["id"]!)" < "\($1["id"]!)" })
            let page = JSON(rows.dropFirst(query.skip).prefix(query.top ?? 50).map { shown($0, hidden) })
            return .answer(.model(200, ["items": page]))
        }
    }

    private func conditions(_ device: Device) -> [String] {
        device.server.requests.filter { $0.head.method != .get }.map { $0.head.headerFields[.ifMatch] ?? "none" }
    }

    @Test("another user's change is a conflict, for an update and for a delete", arguments: wires)
    func conflict(_ dialect: Dialect) async throws {
        let device = try await device(dialect)
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.delete(id: "b")
        device.server.seed("todos", [["id": "a", "text": "theirs"], ["id": "b", "text": "theirs"]])
        for _ in 0..<2 { _ = try await device.context.push() }
        #expect(try await device.context.queue.operations().map(\.failure?.code) == ["conflict", "conflict"])
        #expect(device.remote("a")?["n"] == 1 && device.remote("a")?["text"] == "theirs")
        #expect(device.remote("b")?["text"] == "theirs")
        for held in try await device.context.queue.operations() {
            try await device.context.queue.resolve(held.id, .client)
        }
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 2 && device.remote("a")?["text"] == "theirs")
        #expect(device.remote("b")?["deleted"]?.bool ?? true)
    }

    @Test("changes are sent with the version, before and after the next pull", arguments: wires)
    func condition(_ dialect: Dialect) async throws {
        let device = try await device(dialect)
        for n in 2...4 {
            try await device.todos.update(["id": "a", "n": JSON(n)])
            #expect(try await device.context.push().isClean)
            if n == 3 { try await device.todos.pull(named: "all") }
        }
        try await device.todos.delete(id: "b")
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 4)
        #expect(conditions(device).count == 4 && !conditions(device).contains("none"))
    }

    @Test(
        "where null is left out, a filled, a cleared and a further property are another user's change",
        arguments: wires,
        [["b": "theirs"], ["text": .null], ["more": "theirs"]] as [JSON])
    func leftOut(_ dialect: Dialect, _ change: JSON) async throws {
        let device = try await Device(.memory, dialect: dialect)
        device.server.seed("todos", [["id": "a", "n": 1, "text": "old", "b": .null]])
        hideVersions(device.server, dialect, true, leavesOutNull: true)
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "a", "text": "mine"])
        var theirs = change
        theirs["id"] = "a"
        device.server.seed("todos", [theirs])
        for _ in 0..<2 { _ = try await device.context.push() }
        #expect(try await device.context.queue.operations().map(\.failure?.code) == ["conflict"])
        #expect(device.remote("a")?["text"] == (change["text"] ?? "old"))
    }

    @Test("a read by id that fails is no reason to send without a condition", arguments: [429, 500, 503])
    func failing(_ status: Int) async throws {
        let device = try await device(.azureV2)
        let model = device.server
        try await device.todos.update(["id": "a", "n": 2])
        model.seed("todos", [["id": "a", "text": "theirs"]])
        model.onRequest { request in
            request.head.method == .get && ModelCall(request).id != nil ? .answer(.json(status, "")) : .none
        }
        for _ in 0..<3 { #expect(try await !device.context.push().isClean) }
        #expect(conditions(device).isEmpty)
        hideVersions(model, .azureV2, true)
        _ = try await device.context.push()
        #expect(try await device.context.queue.operations().map(\.failure?.code) == ["conflict"])
    }

    @Test("nor is a list that fails while a copy that lags does not show the record by its id", arguments: wires)
    func listFails(_ dialect: Dialect) async throws {
        let device = try await device(dialect)
        try await device.todos.update(["id": "a", "n": 2])
        try await device.todos.delete(id: "b")
        device.server.onRequest { request in
            guard request.head.method == .get else { return .none }
            return .answer(.json(ModelCall(request).id == nil ? 503 : 404, ""))
        }
        for _ in 0..<2 { #expect(try await !device.context.push().isClean) }
        #expect(conditions(device).isEmpty && device.remote("a")?["n"] == 1 && device.remote("b") != nil)
    }

    @Test("lists that leave out a property are no other user's change", arguments: wires)
    func partial(_ dialect: Dialect) async throws {
        let device = try await Device(.memory, dialect: dialect)
        device.server.seed("todos", [["id": "a", "n": 1, "text": "old"]])
        hideVersions(device.server, dialect, true, listHides: ["text"])
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "a", "n": 2])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 2 && device.remote("a")?["text"] == "old")
        #expect(!conditions(device).contains("none"))
    }

    @Test("a change between the read by id and the send is a conflict", arguments: wires)
    func between(_ dialect: Dialect) async throws {
        let device = try await device(dialect)
        let model = device.server
        try await device.todos.update(["id": "a", "n": 2])
        model.onRequest { request in
            guard request.head.method == .get, let row = model.rows("todos")["a"] else { return .none }
            let answer = row.without(["version"])
            let isByID = ModelCall(request).id != nil
            if isByID { model.seed("todos", [["id": "a", "text": "theirs"]]) }
            return .answer(
                isByID ? .model(200, answer, version: row["version"]?.string) : .model(200, ["items": [answer]]))
        }
        _ = try await device.context.push()
        #expect(conditions(device).allSatisfy { $0 != "none" } && !conditions(device).isEmpty)
        #expect(device.remote("a")?["n"] == 1 && device.remote("a")?["text"] == "theirs")
    }

    @Test("a change after the last push is a conflict", arguments: wires)
    func after(_ dialect: Dialect) async throws {
        let device = try await device(dialect)
        let model = device.server
        try await device.todos.update(["id": "a", "n": 2])
        #expect(try await device.context.push().isClean)
        try await device.todos.update(["id": "a", "n": 3])
        model.seed("todos", [["id": "a", "text": "theirs"]])
        _ = try await device.context.push()
        #expect(try await device.context.queue.operations().map(\.failure?.code) == ["conflict"])
        #expect(device.remote("a")?["n"] == 2 && device.remote("a")?["text"] == "theirs")
    }

    @Test("of a server without versions ten records are read, and no more", arguments: wires)
    func none(_ dialect: Dialect) async throws {
        let device = try await device(dialect, isTagged: false)
        let ids = (0..<12).map { "r\($0)" }
        device.server.seed("todos", ids.map { ["id": JSON($0), "n": 1] })
        try await device.todos.pull(named: "all")
        device.server.clearLog()
        for id in ids {
            try await device.todos.delete(id: RecordID(id))
            #expect(try await device.context.push().isClean)
        }
        #expect(device.server.requests.filter { $0.head.method == .get }.count == 10)
    }

    @Test("where the list and the record by its id differ, the change waits once")
    func lagging() async throws {
        let device = try await device(.datasync)
        let model = device.server
        let reads = Counter()
        try await device.todos.update(["id": "a", "n": 2])
        model.onRequest { request in
            guard request.head.method == .get, let row = model.rows("todos")["a"] else { return .none }
            let isByID = ModelCall(request).id != nil
            let isOld = isByID && reads.next() == 1
            var body = row.without(["version"])
            if isOld { body["text"] = "older" }
            let version = isOld ? "v0" : row["version"]?.string
            return .answer(isByID ? .model(200, body, version: version) : .model(200, ["items": [body]]))
        }
        let failure = try #require(try await device.context.push().failures.first?.failure)
        #expect(failure.code == "serverFailure" && device.remote("a")?["n"] == 1)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a")?["n"] == 2)
    }
}
