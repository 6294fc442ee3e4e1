import Foundation
import HTTPTypes
import RepositoryFiles
import SluiceBackend
import SluiceCore
import Testing

// documentation: begin
struct MovieHooks: TableHooks {
    func before(_ request: inout HookRequest) async throws {
        if request.operation == .delete, request.principal?.user != "editor" {
            throw HookRefusal(403, "only the editor deletes movies")
        }
        if request.operation == .read, request.principal == nil {
            request.filter = try QueryExpression(odata: "year lt 2000")
        }
        request.record?["checkedBy"] = "backend"
    }

    func after(_ answer: inout HookAnswer) async throws {
        for index in answer.records.indices { answer.records[index]["checkedBy"] = nil }
    }

    func conflict(_ conflict: HookConflict) async throws -> JSON? {
        var merged = conflict.server
        for (name, value) in conflict.client.members ?? [] { merged[name] = value }
        return merged
    }
}
// documentation: end

@Suite struct DocumentedHooksTests {
    /// The blocks of the documentation in that language.
    private func blocks(_ language: String) throws -> [String] {
        let text = try String(contentsOfFile: Repository.path("docs/backend.md"), encoding: .utf8)
        return text.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
    }

    @Test("the documented hooks are these")
    func documented() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let hooks = try #require(
            source.components(separatedBy: "// documentation: begin\n").dropFirst().first?
                .components(separatedBy: "// documentation: end").first)
        #expect(try blocks("swift").contains { $0.hasPrefix(hooks) })
    }

    @Test("the documented configurations are read")
    func configurations() throws {
        let texts = try blocks("yaml")
        #expect(!texts.isEmpty)
        for text in texts {
            let configuration = try BackendConfiguration(yaml: text, file: "backend.yaml", directory: "/srv")
            #expect(!configuration.tables.isEmpty)
        }
    }

    @Test("the documented hooks refuse, narrow, hide and merge")
    func atWork() async throws {
        let seed: [JSON] = [["id": "old", "year": 1972], ["id": "new", "year": 2008]]
        let fixture = try await BackendFixture(
            tables: [.init("movies", seed: .records(seed))],
            authentication: .init(secret: .text(TestToken.secret)), hooks: ["movies": MovieHooks()])
        let editor = [("X-ZUMO-AUTH", try await TestToken.user("editor"))]
        #expect(await fixture.send(.get, "/tables/movies").ids == ["old"])
        #expect(await fixture.send(.get, "/tables/movies", headers: editor).ids == ["new", "old"])
        let merged = await fixture.send(
            .patch, "/tables/movies/old", #"{"title":"Cabaret"}"#, headers: [("If-Match", "\"AAAAAAAAAAA=\"")])
        #expect(merged.status == 200)
        #expect(merged.json["title"] == "Cabaret" && merged.json["year"] == 1972)
        #expect(merged.json["checkedBy"] == nil)
        #expect(await fixture.send(.delete, "/tables/movies/old").status == 403)
        #expect(await fixture.send(.delete, "/tables/movies/old", headers: editor).status == 204)
    }
}
