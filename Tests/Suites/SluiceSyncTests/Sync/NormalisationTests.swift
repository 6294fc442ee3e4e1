import SluiceTestSupport
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceCore
@testable import SluiceSync
@testable import SluiceWire

/// The same letters composed and decomposed: equal for a `String`, two texts for servers and databases.
private let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")

@Suite("Ids and names of properties are what their bytes are")
struct NormalisationTests {
    private let names: (PropertyName, PropertyName) = (PropertyName(composed), PropertyName(decomposed))

    /// A record with both names.
    private func record(_ id: String, _ first: JSON, _ second: JSON) -> JSON {
        ["id": JSON(id), composed: first, decomposed: second]
    }

    @Test("ids and names differ by their bytes, in sets, dictionaries and order, too")
    func types() throws {
        #expect(composed == decomposed)
        #expect(RecordID(composed) != RecordID(decomposed) && names.0 != names.1)
        #expect(Set([RecordID(composed), RecordID(decomposed)]).count == 2 && Set([names.0, names.1]).count == 2)
        #expect(RecordID(decomposed) < RecordID(composed) && names.1 < names.0)
        #expect(RecordID("7") != 7 && JSON(composed) != JSON(decomposed))
        let both = record("a", 1, 2)
        #expect(both.names == ["id", names.0, names.1] && both.count == 3)
        #expect(try JSON(parsing: "\(both)") == both && both != record("a", 2, 1))
    }

    @Test("a pull brings both forms of an id as two rows, which are edited apart", arguments: StoreKind.allCases)
    func twoRows(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.seed("todos", [["id": JSON(composed), "n": 1], ["id": JSON(decomposed), "n": 2]])
        try await device.todos.pull(named: "all")
        #expect(try await device.local(composed)?["n"] == 1)
        #expect(try await device.local(decomposed)?["n"] == 2)
        try await device.todos.update(["id": JSON(decomposed), "n": 3])
        #expect(try await device.context.push().isClean)
        #expect(device.remote(composed)?["n"] == 1 && device.remote(decomposed)?["n"] == 3)
        try await device.todos.delete(id: composed)
        #expect(try await device.local(decomposed)?["n"] == 3)
        #expect(try await device.context.push().isClean)
        try await device.todos.pull(named: "all")
        #expect(try await device.todos.records().compactMap { $0["id"]?.textID } == [RecordID(decomposed)])
    }

    @Test(
        "a server that answers a push with the other form of the id makes no ghost row", arguments: StoreKind.allCases)
    func ghost(_ kind: StoreKind) async throws {
        let server = ModelServer()
        let device = try await Device(kind, server: server, transport: Decomposing(server: server))
        try await device.todos.insert(["id": JSON(composed), "n": 1])
        let result = try await device.context.push()
        // The answer is about another record: it proves nothing, and nothing is stored of it.
        #expect(!result.isClean)
        #expect(try await device.queue().count == 1)
        let ids = try await device.todos.records().compactMap { $0["id"]?.textID }
        #expect(ids == [RecordID(composed)])
    }

    @Test(
        "two properties that differ in their bytes alone are edited, sent and merged apart",
        arguments: StoreKind.allCases)
    func twoProperties(_ kind: StoreKind) async throws {
        let device = try await Device(kind, handlers: [FieldMerge()])
        device.server.seed("todos", [record("a", 1, 1)])
        try await device.todos.pull(named: "all")
        // The edit of one collapses with that of the other.
        try await device.todos.update(["id": "a", composed: 2])
        try await device.todos.update(["id": "a", decomposed: 3])
        #expect(try await device.queue().count == 1)
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == record("a", 2, 3))
        // Here the one, there the other: merged.
        try await device.todos.update(["id": "a", composed: 4])
        device.server.seed("todos", [["id": "a", decomposed: 5]])
        #expect(try await device.context.push().failures.isEmpty)
        #expect(device.remote("a") == record("a", 4, 5))
        #expect(try await device.local("a") == record("a", 4, 5))
    }

    @Test("a rebase and its changes tell both properties apart")
    func rebase() {
        let system: Set<PropertyName> = ["version"]
        #expect(
            Rebase.changes(from: record("a", 1, 1), to: record("a", 1, 2), system: system)
                == [decomposed: 2])
        #expect(
            Rebase.reapply(from: record("a", 1, 1), to: record("a", 1, 2), onto: record("a", 3, 1), system: system)
                == record("a", 3, 2))
    }

    @Test("a live query's difference tells both forms of an id apart")
    func difference() {
        let (old, new) = ([record(composed, 1, 1)], [record(decomposed, 1, 1)])
        let diff = QueryDiff(from: old, to: new)
        #expect(diff.removed == [0] && diff.inserted.count == 1 && diff.changed.isEmpty)
        #expect(diff.applied(to: old) == new)
    }

    @Test("a change that gives a record two names that differ in case alone is refused; a server may take them for one")
    func cases() async throws {
        let device = try await Device(.memory)
        let both: JSON = ["id": "a", "title": 1, "Title": 2]
        let error = await #expect(throws: SluiceError.self) { try await device.todos.insert(both) }
        #expect(error?.code == .invalidRecord && error?.message.contains("title and Title") == true)
        // What a server has is edited as it is.
        device.server.seed("todos", [both])
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "a", "title": 3])
        #expect(try await device.context.push().isClean)
        #expect(device.remote("a") == ["id": "a", "title": 3, "Title": 2])
    }

    @Test("where the server writes a name in other letters, a decision for the client's record takes the server's name")
    func spelling() {
        let server: JSON = ["id": "a", "Title": "theirs", "n": 1]
        #expect(
            RecordRules.spelled(["id": "a", "title": "mine", "n": 2], like: server, system: [])
                == ["id": "a", "Title": "mine", "n": 2])
        #expect(RecordRules.spelled(nil, like: server, system: []) == nil)
    }

    @Test(
        "a row with an id that no client gives is pulled, edited and deleted", arguments: ["bad/id", "a+b", "a?b", " "])
    func unusualIDs(id: String) async throws {
        let device = try await Device(.sqlite)
        device.server.seed("todos", [["id": JSON(id), "n": 1]])
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": JSON(id), "n": 2])
        #expect(try await device.context.push().isClean)
        #expect(device.remote(id)?["n"] == 2)
        try await device.todos.delete(id: id)
        #expect(try await device.context.push().isClean)
        #expect(device.remote(id) == nil)
    }
}

/// A server that stores ids decomposed, and gives them back so.
private struct Decomposing: Transport {
    let server: ModelServer

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        var response = try await server.send(request)
        let text = String(decoding: response.body.bytes, as: UTF8.self)
        response.body = MessageBody(bytes: Array(text.replacing(composed, with: decomposed).utf8))
        return response
    }
}
