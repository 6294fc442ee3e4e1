import Foundation
import HTTPTypes
import Sluice
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite("Tables with integer ids") struct IntegerIDTests {
    private func fixture() async throws -> BackendFixture {
        try await BackendFixture(
            .init(
                "t",
                seed: .records([["id": 2, "x": "two"], ["id": 10, "x": "ten"], ["x": "made"]]), pageSize: 2,
                ids: .integer))
    }

    @Test("The server makes them, each once, above those that are there") func made() async throws {
        let fixture = try await fixture()
        let all = await fixture.send(.get, "/tables/t?$select=id&$top=2")
        #expect(all.json == [["id": 2], ["id": 10]])
        var ids: [Int64] = []
        for body in [#"{"x":"a"}"#, #"{"id":0,"x":"b"}"#, #"{"id":null,"x":"c"}"#] {
            let made = await fixture.send(.post, "/tables/t", body)
            #expect(made.status == 201)
            let id = try #require(made.json["id"]?.int)
            #expect(made.header("Location")?.hasSuffix("/tables/t/\(id)") == true)
            ids.append(id)
        }
        #expect(ids == ids.sorted() && Set(ids).count == 3 && ids[0] > 10)
        #expect(await fixture.send(.delete, "/tables/t/\(ids[2])").status == 204)
        let next = try #require(await fixture.send(.post, "/tables/t", "{}").json["id"]?.int)
        #expect(next > ids[2])
    }

    @Test("A client cannot choose one") func chosen() async throws {
        let fixture = try await fixture()
        for body in [#"{"id":77}"#, #"{"id":"77"}"#, #"{"id":-1}"#, #"{"id":1.5}"#] {
            #expect(await fixture.send(.post, "/tables/t", body).status == 400, "\(body)")
        }
    }

    @Test(
        "They are numbers in queries, and in their order",
        arguments: [
            ("$filter=id eq 10", [10]), ("$filter=id gt 2&$top=1", [10]), ("$orderby=id desc&$top=2", [11, 10]),
            ("$filter=id add 1 eq 3", [2]), ("$filter=id le 10", [2, 10]),
        ] as [(String, [Int64])])
    func queries(query: String, ids: [Int64]) async throws {
        let fixture = try await fixture()
        for (version, name) in [("2.0.0", "azure-v2"), (nil, "azure-v1")] as [(String?, String)] {
            let key = version == nil ? [("X-ZUMO-APPLICATION", "k")] : []
            let answer = await fixture.send(.get, "/tables/t?\(query)", headers: key, version: version)
            let found = (answer.json.elements ?? []).compactMap { $0["id"]?.int }
            // The third id of the seed is the server's own: only that it comes last is known.
            #expect(found.filter { $0 <= 10 } == ids.filter { $0 <= 10 }, "\(name): \(answer.json)")
            #expect(found.count == ids.count, "\(name)")
        }
    }

    @Test("A record is read, changed and deleted by its number, and one of no number is missing")
    func byID() async throws {
        let fixture = try await fixture()
        let read = await fixture.send(.get, "/tables/t/10")
        #expect(read.json["id"] == 10 && read.json["x"] == "ten")
        #expect(read.json["__id"] == nil)
        let changed = await fixture.send(.patch, "/tables/t/10", #"{"id":10,"x":"TEN"}"#)
        #expect(changed.status == 200)
        #expect(changed.json["id"] == 10 && changed.json["x"] == "TEN")
        #expect(await fixture.send(.patch, "/tables/t/10", #"{"id":11}"#).status == 400)
        for id in ["010", "ten", "9", "10.0"] {
            #expect(await fixture.send(.get, "/tables/t/\(id)").status == 404, "\(id)")
        }
        #expect(await fixture.send(.delete, "/tables/t/10").status == 204)
        #expect(await fixture.send(.get, "/tables/t/10").status == 404)
    }

    @Test("Later wires see texts", arguments: ["3.0.0", nil] as [String?]) func laterWires(version: String?)
        async throws
    {
        let fixture = try await fixture()
        let read = await fixture.send(.get, "/tables/t/10", version: version)
        #expect(read.json["id"] == "10")
        let found = await fixture.send(.get, "/tables/t?$filter=id eq '10'", version: version)
        #expect(found.json["items"]?.count == 1)
        #expect(await fixture.send(.get, "/tables/t?$filter=__id eq 10", version: version).status == 400)
        let made = await fixture.send(.post, "/tables/t", #"{"x":"new"}"#, json: true, version: version)
        #expect(made.status == 201)
        #expect(made.json["id"]?.string.flatMap { Int64($0) } != nil)
    }

    @Test("An online table of the first two generations works with them", arguments: ["azure-v1", "azure-v2"])
    func online(name: String) async throws {
        let fixture = try await fixture()
        try await fixture.listening { endpoint in
            let client = SluiceClient(
                endpoint: endpoint, dialect: try Dialect(named: name), transport: AsyncHTTPTransport())
            let table = client.table("t")
            var made = try await table.insert(["x": "new"])
            let id = try #require(made["id"]?.int)
            made["x"] = "newer"
            #expect(try await table.update(made)["x"] == "newer")
            #expect(try await table.lookup(id: id)["x"] == "newer")
            var numbers: [Int64] = []
            for try await record in table.records(TableQuery("t")) { numbers.append(record["id"]?.int ?? 0) }
            #expect(numbers == numbers.sorted() && numbers.count == 4)
            try await table.delete(id: id)
            await #expect(throws: SluiceError.self) { try await table.lookup(id: id) }
        }
    }

    @Test("A table keeps the kind of ids that it was made with") func kind() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).db").path
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        let first = try await BackendFixture(.init("t", ids: .integer), database: .sqlite(path: path))
        try await first.backend.close()
        await #expect(throws: SluiceError.self) {
            try await BackendFixture(.init("t"), database: .sqlite(path: path))
        }
        let again = try await BackendFixture(.init("t", ids: .integer), database: .sqlite(path: path))
        try await again.backend.close()
    }
}
