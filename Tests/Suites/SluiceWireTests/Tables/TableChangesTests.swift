import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Changes of an online table")
struct TableChangesTests {
    @Test("an insert is a POST without version, and gives back the server's record", arguments: Dialect.all)
    func insert(dialect: Dialect) async throws {
        let answer = row(dialect, "a", "v1", ["name": "Ada", "made": true])
        let transport = ScriptedTransport([.json(201, answer, ["ETag": #""v1""#])])
        let people = client(transport, dialect: dialect).table("people")
        let record = try await people.insert(["name": "Ada", dialect.version.text: "old", "id": .null])
        #expect(record == (try JSON(parsing: answer)))
        #expect(transport.lines[0].hasPrefix("POST /app/tables/people"))
        #expect(transport.bodies == [#"{"name":"Ada"}"#])
        #expect(transport.header("If-Match") == nil && transport.requests[0].context.action == .insert)
        #expect(transport.requests[0].context.features.contains(.untypedTable))
    }

    @Test(
        "an update is a PATCH, or a PUT where the wire has none, under the version's condition", arguments: Dialect.all)
    func update(dialect: Dialect) async throws {
        let transport = ScriptedTransport([.json(200, row(dialect, "a", "new"), ["ETag": #""new-gzip""#])])
        let people = client(transport, dialect: dialect).table("people")
        var changes: JSON = ["id": "a", "name": "Ada"]
        changes[dialect.version] = "v1"
        let record = try await people.update(changes, parameters: ["by": "me"])
        #expect(record[dialect.version] == "new")
        let method = dialect.patchesUpdates ? "PATCH" : "PUT"
        #expect(transport.lines[0].hasPrefix("\(method) /app/tables/people/a?by=me"))
        #expect(transport.bodies == [#"{"id":"a","name":"Ada"}"#] && transport.header("If-Match") == #""v1""#)
    }

    @Test("a replace is a PUT on every wire", arguments: Dialect.all)
    func replace(dialect: Dialect) async throws {
        let transport = ScriptedTransport([.json(200, row(dialect, "a", "v2"))])
        let people = client(transport, dialect: dialect).table("people")
        #expect(try await people.replace(["id": "a", "name": "Ada"])[dialect.version] == "v2")
        #expect(transport.lines[0].hasPrefix("PUT /app/tables/people/a") && transport.header("If-Match") == nil)
    }

    @Test("a delete by record is conditional, one by id is not", arguments: Dialect.all)
    func delete(dialect: Dialect) async throws {
        let transport = ScriptedTransport([.json(204, ""), .json(200, row(dialect, "b")), .json(204, "")])
        let people = client(transport, dialect: dialect).table("people")
        var record: JSON = ["id": "a", "name": "Ada"]
        record[dialect.version] = "v1"
        try await people.delete(record)
        try await people.delete(id: "b")
        try await people.delete(id: "c", version: "v3")
        #expect(
            transport.lines.map { $0.prefix { $0 != "?" } }
                == ["a", "b", "c"].map { "DELETE /app/tables/people/\($0)" }
                && transport.requests.allSatisfy { $0.body.isEmpty })
        #expect((0..<3).map { transport.header("If-Match", $0) } == [#""v1""#, nil, #""v3""#])
    }

    @Test("a record comes back as each wire has it", arguments: Dialect.all)
    func undelete(dialect: Dialect) async throws {
        let transport = ScriptedTransport(otherwise: .json(200, row(dialect, "a", "v2", ["name": "Ada"])))
        let people = client(transport, dialect: dialect).table("people")
        var record: JSON = ["id": "a"]
        record[dialect.version] = "v1"
        #expect(try await people.undelete(record)[dialect.version] == "v2")
        let last = transport.requests.count - 1
        let (line, body) = (transport.lines[last], transport.bodies[last])
        #expect(transport.header("If-Match", last) == #""v1""#)
        switch dialect.undelete {
        case .post: #expect(last == 0 && line.hasPrefix("POST /app/tables/people/a") && body.isEmpty)
        case .patch: #expect(last == 0 && line == "PATCH /app/tables/people/a" && body == #"{"deleted":false}"#)
        case .put:
            #expect(last == 1 && line == "PUT /app/tables/people/a?__includedeleted=true")
            #expect(body == #"{"id":"a","name":"Ada","deleted":false}"#)
        }
    }

    @Test("a record that must be put back whole is read first")
    func undeleteByID() async throws {
        let deleted = row(.datasync, "a", "v1", ["name": "Ada", "deleted": true])
        let transport = ScriptedTransport([.json(200, deleted), .json(200, row(.datasync, "a", "v2"))])
        try await client(transport, dialect: .datasync).table("people").undelete(id: "a")
        #expect(
            transport.lines == [
                "GET /app/tables/people/a?__includedeleted=true", "PUT /app/tables/people/a?__includedeleted=true",
            ])
        #expect(transport.bodies[1] == #"{"id":"a","name":"Ada","deleted":false}"#)
        #expect(transport.header("If-Match", 1) == #""v1""#)
    }

    @Test("after an answer without a record what was sent counts, with the tag's version or none")
    func noContent() async throws {
        let transport = ScriptedTransport([.json(204, "", ["ETag": #""v2""#]), .json(204, "")])
        let people = client(transport).table("people")
        let first = try await people.update(["id": "a", "name": "Ada", "version": "v1"])
        #expect(first == ["id": "a", "name": "Ada", "version": "v2"])
        #expect(try await people.update(first) == ["id": "a", "name": "Ada"])
    }

    @Test("an integer id goes where the wire knows such, without a version")
    func integers() async throws {
        let answer = #"{"id":7,"text":"x"}"#
        let transport = ScriptedTransport(otherwise: .json(200, answer))
        let table = client(transport, dialect: .azureV1).table("old")
        #expect(try await table.insert(["id": 0, "text": "x"])["id"] == 7)
        #expect(try await table.update(["id": 7, "text": "x", "__version": "v"])["id"] == 7)
        #expect(try await table.lookup(id: 7)["text"] == "x")
        try await table.delete(id: 7, version: "v")
        #expect(transport.bodies[0] == #"{"text":"x"}"#)
        #expect(transport.lines[1].hasPrefix("PATCH /app/tables/old/7?"))
        #expect((0..<4).allSatisfy { transport.header("If-Match", $0) == nil })
        let modern = client(transport, dialect: .datasync).table("t")
        let error = await #expect(throws: SluiceError.self) { try await modern.lookup(id: 7) }
        #expect(error?.code == .invalidRecord && transport.requests.count == 4)
    }

    @Test("parameters repeat a name for an array, and keep to names of their own")
    func parameters() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, row(.azureV2, "a")))
        let people = client(transport).table("people")
        try await people.insert(["id": "a"], parameters: ["x": [1, "B"], "q": "a&b c", "on": true])
        #expect(transport.lines == ["POST /app/tables/people?x=1&x=B&q=a%26b%20c&on=true"])
        for bad in [["$top": "1"], ["": "1"], ["a": .null], ["a": ["b": 1]], ["a": [["b"]]]] as [SyncRequest.Parameters]
        {
            let refused = [
                await #expect(throws: SluiceError.self) { try await people.insert(["id": "a"], parameters: bad) },
                await #expect(throws: SluiceError.self) { try await people.read(parameters: bad) },
                await #expect(throws: SluiceError.self) { try await people.delete(id: "a", parameters: bad) },
                await #expect(throws: SluiceError.self) { try await people.client.api("x").call(parameters: bad) },
            ]
            #expect(refused.allSatisfy { $0?.code == .invalidArgument })
        }
        #expect(transport.requests.count == 1)
    }
}
