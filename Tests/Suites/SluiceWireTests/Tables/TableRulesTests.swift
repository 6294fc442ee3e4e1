import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Ids and names of online tables")
struct TableRulesTests {
    let transport = ScriptedTransport(otherwise: .json(200, #"{"id":"a"}"#))

    private func refusal(_ body: (OnlineTable<JSON>) async throws -> Void) async -> SluiceError? {
        await #expect(throws: SluiceError.self) { try await body(client(transport, dialect: .azureV1).table("t")) }
    }

    @Test(
        "a record that cannot be inserted is not sent",
        arguments: [
            ["Id": "a"], ["ID": "a"], ["iD": "a", "id": "b"], ["id": 5], ["id": -1], ["id": 1.5], ["id": true],
            ["id": ""],
            ["id": "a/b"], ["id": ".."], ["id": " "], ["id": ["a"]], [1], "a", .null,
        ] as [JSON])
    func insert(record: JSON) async {
        let error = await refusal { try await $0.insert(record) }
        #expect(error?.code == .invalidRecord && error?.table == "t" && transport.requests.isEmpty)
    }

    @Test(
        "a change needs an id",
        arguments: [["name": "a"], ["id": .null], ["id": 0], ["id": ""], ["Id": "a"], ["id": "a", "ID": "a"]] as [JSON])
    func change(record: JSON) async {
        for change in [
            { try await $0.update(record) }, { try await $0.replace(record) }, { try await $0.delete(record) },
            { try await $0.undelete(record) },
        ] as [(OnlineTable<JSON>) async throws -> Void] {
            #expect(await refusal(change)?.code == .invalidRecord)
        }
        #expect(transport.requests.isEmpty)
    }

    @Test(
        "an id that is not allowed is asked nothing of",
        arguments: ["", ".", "..", "a\u{0}"])
    func id(id: String) async {
        #expect(await refusal { _ = try await $0.lookup(id: id) }?.code == .invalidRecord)
        #expect(await refusal { try await $0.delete(id: id) }?.code == .invalidRecord)
        #expect(await refusal { try await $0.undelete(id: id) }?.code == .invalidRecord)
        #expect(transport.requests.isEmpty)
    }

    @Test(
        "what a server has under an id that no client gives can be read and changed: the id goes percent-encoded",
        arguments: [("bad/id", "bad%2Fid"), ("a+b", "a%2Bb"), (" ", "%20"), ("a\u{1}", "a%01")])
    func unusual(id: String, encoded: String) async throws {
        let table = client(transport).table("t")
        var record = JSON.object
        record["id"] = JSON(id)
        transport.append(.json(200, "\(record)"))
        transport.append(.json(200, "\(record)"))
        #expect(try await table.lookup(id: id)["id"] == JSON(id))
        #expect(try await table.update(record)["id"] == JSON(id))
        #expect(transport.requests.allSatisfy { $0.head.path?.hasSuffix("/tables/t/\(encoded)") == true })
        #expect(await refusal { try await $0.insert(record) }?.code == .invalidRecord)
    }

    @Test("an id may have 255 characters and no more")
    func length() async throws {
        let table = client(transport).table("t")
        #expect(
            await refusal { try await $0.insert(["id": JSON(String(repeating: "é", count: 256))]) }?.code
                == .invalidRecord)
        let longest = String(repeating: "x", count: 255)
        transport.append(.json(200, #"{"id":"\#(longest)"}"#))
        #expect(try await table.lookup(id: longest)["id"] == JSON(longest))
    }

    @Test("only text ids can be brought back")
    func undelete() async {
        #expect(await refusal { try await $0.undelete(id: 7) }?.code == .invalidRecord)
        #expect(await refusal { try await $0.undelete(["id": 7]) }?.code == .invalidRecord)
        #expect(transport.requests.isEmpty)
    }

    @Test("a number under another spelling of id is a property like others")
    func otherSpelling() async throws {
        try await client(transport).table("t").insert(["ID": 5])
        #expect(transport.bodies == [#"{"ID":5}"#])
    }

    @Test("a table's name is one segment of the path", arguments: ["", " ", "..", "a/b", "a?b", "a\\b", "a\nb"])
    func names(name: String) async {
        let table = client(transport).table(name)
        for call in [
            { _ = try await table.read() }, { _ = try await table.lookup(id: "a") },
            { try await table.delete(id: "a") },
            { try await table.insert(["id": "a"]) }, { _ = try await table.read(odata: "$top=1") },
            { _ = try await table.refresh(["a": 1]) }, { try await table.undelete(["id": "a"]) },
        ] as [() async throws -> Void] {
            #expect(await #expect(throws: SluiceError.self) { try await call() }?.code == .invalidTable)
        }
        #expect(transport.requests.isEmpty)
    }

    @Test("an id is written as a literal, and read as what it is")
    func literals() throws {
        #expect(("a" as RecordID) == .string("a") && (7 as RecordID) == .integer(7))
        #expect(try JSONRecordDecoder().decode([RecordID].self, from: ["7", 7]) == ["7", 7])
        #expect(try JSONRecordEncoder().encode(["7", 7] as [RecordID]) == ["7", 7])
        #expect(("7" as RecordID) != 7 && "\(7 as RecordID)" == "7")
    }
}
