import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("An online table and a server")
struct ModelServerTableTests {
    private func client(
        _ server: ModelServer, dialect: Dialect = .azureV2, options: ClientOptions = quickOptions()
    ) throws -> SluiceClient {
        SluiceClient(
            endpoint: try Endpoint("http://model.test"), dialect: dialect, transport: server, options: options)
    }

    @Test("a record lives its life")
    func life() async throws {
        let server = ModelServer()
        let people = try client(server).table(Person.self)
        var ada = try await people.insert(Person(id: "a", name: "Ada", age: 35))
        #expect(ada.version != nil && ada.updatedAt != nil)
        ada.age = nil
        ada = try await people.update(ada)
        #expect(ada.age == nil && server.rows("people")["a"]?["age"] == .some(.null))
        #expect(try await people.lookup(id: "a") == ada)
        try await people.delete(ada)
        #expect(await #expect(throws: SluiceError.self) { try await people.lookup(id: "a") }?.code == .notFound)
        let back = try await people.undelete(id: "a")
        #expect(back.name == "Ada" && back.version != ada.version)
        #expect(try await people.refresh(ada) == back)
        let replaced = try await people.replace(Person(id: "a", name: "Countess", version: back.version))
        #expect(replaced.name == "Countess" && server.rows("people")["a"]?["name"] == "Countess")
    }

    @Test("of two who change the same state one is told, and can go on from the server's record")
    func conflict() async throws {
        let server = ModelServer()
        let people = try client(server).table(Person.self)
        let start = try await people.insert(Person(id: "a", name: "Ada"))
        var mine = start
        mine.name = "Mine"
        var theirs = start
        theirs.name = "Theirs"
        try await people.update(theirs)
        let error = await #expect(throws: SluiceError.self) { try await people.update(mine) }
        #expect(error?.code == .preconditionFailed)
        let current = try #require(try error?.server(as: Person.self))
        #expect(current.name == "Theirs")
        mine.version = current.version
        #expect(try await people.update(mine).name == "Mine")
        #expect(await #expect(throws: SluiceError.self) { try await people.insert(start) }?.code == .conflict)
        #expect(await #expect(throws: SluiceError.self) { try await people.delete(start) }?.code == .preconditionFailed)
        try await people.delete(id: "a")
        #expect(server.rows("people")["a"]?["deleted"] == true)
    }

    @Test(
        "a walk brings every row once, whatever the size of the pages", arguments: [Dialect.azureV1, .azureV2],
        [1, 3, 7, 50])
    func walk(dialect: Dialect, pageSize: Int) async throws {
        let server = ModelServer(pageSize: pageSize)
        server.seed("people", (10..<31).map { ["id": JSON("p\($0)"), "name": JSON("n\($0)"), "age": JSON($0)] })
        let people = try client(server, dialect: dialect).table("people")
        var ids: [String] = []
        for try await person in people.records(TableQuery("people").where(column("age") >= 15)) {
            ids.append(person["id"]?.string ?? "")
        }
        #expect(ids == (15..<31).map { "p\($0)" })
        ids = []
        for try await person in people.records(TableQuery("people").skipping(2).taking(4)) {
            ids.append(person["id"]?.string ?? "")
        }
        #expect(ids == (12..<16).map { "p\($0)" })
    }

    @Test("a lost answer is an error, and the table is asked what became of it")
    func lostAnswer() async throws {
        let server = ModelServer()
        var options = quickOptions()
        options.retry = .never
        let people = try client(server, options: options).table(Person.self)
        server.onRequest { _ in .loseAnswer }
        let error = await #expect(throws: SluiceError.self) { try await people.insert(Person(id: "a", name: "Ada")) }
        #expect(error?.code == .network)
        server.onRequest(nil)
        #expect(try await people.lookup(id: "a").name == "Ada")
    }
}
