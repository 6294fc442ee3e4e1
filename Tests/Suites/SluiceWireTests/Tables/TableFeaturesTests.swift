import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Features of online requests")
struct TableFeaturesTests {
    /// One request of each kind.
    private func requests(_ dialect: Dialect) async throws -> ScriptedTransport {
        let record = #"{"id":"a","name":"Ada"}"#
        let transport = ScriptedTransport(
            [.json(200, record), .json(200, "[]"), .json(200, "[]"), .json(200, record), .json(204, "")],
            otherwise: .json(200, record))
        let client = client(transport, dialect: dialect)
        let table = client.table("people")
        try await client.table(Person.self).update(
            Person(id: "a", name: "Ada", version: "v"), parameters: ["by": "me"])
        _ = try await table.read(TableQuery("people").taking(1))
        _ = try await table.read(odata: "$top=1")
        _ = try await table.refresh(["id": "a"])
        try await table.delete(id: "a")
        try await client.api("x").call()
        _ = try await client.api("x").call(returning: Person.self)
        _ = try await client.api("x").send()
        return transport
    }

    @Test("each request says what it is, and no word of the one before")
    func told() async throws {
        let transport = try await requests(.azureV2)
        #expect(
            transport.requests.indices.map { transport.header("X-ZUMO-FEATURES", $0) }
                == ["TT,QS,OC", "TU,TQ", "TU,TR", "TU,RF", "TU", "AJ", "AT", "AG"])
    }

    @Test("servers of today are not told", arguments: [Dialect.azureV3, .datasync])
    func untold(dialect: Dialect) async throws {
        let transport = try await requests(dialect)
        #expect(transport.requests.indices.allSatisfy { transport.header("X-ZUMO-FEATURES", $0) == nil })
    }
}
