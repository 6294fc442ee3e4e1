import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceDaemon
@testable import SluiceLua

/// `on_conflict` on the server.
@Suite(.timeLimit(.minutes(10))) struct ServerPluginConflictTests {
    private let stale = [("If-Match", "\"AAAAAAAAAAA=\"")]

    @Test(
        "a script decides client, server or a merge, and the request succeeds",
        arguments: [
            ("return decide.client()", 9, "x"), ("return decide.server()", 1, "x"),
            ("return c:merge { default = 'client' }", 9, "x"), ("return c:merge { n = 'max' }", 9, "x"),
            ("return c:merge { n = 'min' }", 1, "x"),
            (
                "local r = c.server; r.n = c.client.n + c.server.n; r.t = c.kind .. c.status; return decide.merge(r)",
                10, "update412"
            ),
        ])
    func decides(script: String, n: Int, t: String) async throws {
        let server = try await PluginBackend(["on_conflict": script])
        let before = await server.send(.get, "/tables/t/a")
        let answer = await server.send(.patch, "/tables/t/a", #"{"n":9}"#, stale)
        #expect(answer.status == 200 && answer.json["n"] == JSON(n) && answer.json["t"] == JSON(t), "\(answer.text)")
        let after = await server.send(.get, "/tables/t/a")
        #expect(after.json == answer.json)
        // What stays the server's is not written anew, so nobody pulls it again.
        #expect((after.json["version"] == before.json["version"]) == (n == 1))
    }

    @Test("a replacement and an insert are whole: what they leave out is gone if the client wins")
    func whole() async throws {
        let server = try await PluginBackend(["on_conflict": "return decide.client()"])
        let replaced = await server.send(.put, "/tables/t/a", #"{"n":9}"#, stale)
        #expect(replaced.status == 200 && replaced.json["t"] == .null && replaced.json["n"] == 9, "\(replaced.text)")
        let inserted = await server.send(.post, "/tables/t", #"{"id":"b","t":"new"}"#)
        #expect(
            inserted.status == 201 && inserted.json["n"] == .null && inserted.json["t"] == "new", "\(inserted.text)")
    }

    @Test(
        "what a server cannot decide is left to the client, with the server's record as readers see it",
        arguments: ["next", "ask", "defer", "delete"])
    func leaves(decision: String) async throws {
        let server = try await PluginBackend([
            "on_conflict": "return decide.\(decision)()",
            "read": "local a = next(req); for _, r in a:rows() do r.t = req.kind .. req.id end; return a",
        ])
        let answer = await server.send(.patch, "/tables/t/a", #"{"n":9}"#, stale)
        #expect(answer.status == 412 && answer.json["n"] == 1 && answer.json["t"] == "lookupa", "\(answer.text)")
        #expect(await server.send(.post, "/tables/t", #"{"id":"a"}"#).status == 409)
        #expect(await server.send(.get, "/tables/t/a").json["n"] == 1)
    }

    @Test("a record that a reader's filter takes away is not shown by a conflict either")
    func hidden() async throws {
        let server = try await PluginBackend(["read": "req.filter = \"t ne 'x'\"; return next(req)"])
        for (method, path) in [(HTTPRequest.Method.patch, "/tables/t/a"), (.delete, "/tables/t/a")] {
            let answer = await server.send(method, path, #"{"n":9}"#, stale)
            #expect(answer.status == 404 && !answer.text.contains("\"x\""), "\(answer.text)")
        }
        let insert = await server.send(.post, "/tables/t", #"{"id":"a"}"#)
        #expect(insert.status == 404 && !insert.text.contains("\"x\""), "\(insert.text)")
        let shown = await server.send(.patch, "/tables/t/b", #"{"n":9}"#, stale)
        #expect(shown.status == 412 && shown.json["t"] == "y", "\(shown.text)")
    }

    @Test("a script that fails: hold is 500, next leaves it to the client, server and client decide")
    func fails() async throws {
        for (policy, status, n) in [("hold", 500, 1), ("next", 412, 1), ("server", 200, 1), ("client", 200, 9)] {
            let server = try await PluginBackend(["on_conflict": "error('hunter2')"], onError: policy)
            let answer = await server.send(.patch, "/tables/t/a", #"{"n":9}"#, stale)
            #expect(answer.status == status && !answer.text.contains("hunter2"), "\(policy): \(answer.text)")
            #expect(await server.send(.get, "/tables/t/a").json["n"] == JSON(n), "\(policy)")
        }
    }

    @Test(
        "a merge of another record, or of a part, is refused and nothing is written",
        arguments: [
            "local r = c.server; r.id = 'z'; return decide.merge(r)", "return decide.merge({ id = 'z' })",
            "return decide.merge({ id = c.id })", "return decide.merge()",
        ])
    func wrong(script: String) async throws {
        let server = try await PluginBackend(["on_conflict": script])
        #expect(await server.send(.patch, "/tables/t/a", #"{"n":9}"#, stale).status == 500)
        #expect(await server.send(.get, "/tables/t/a").json["n"] == 1)
    }

    @Test("the script around the update sees the merged record, and its changes went into the conflict")
    func together() async throws {
        let server = try await PluginBackend([
            "on_conflict": "return c:merge { default = 'client' }",
            "update":
                "req.record.n = req.record.n * 2; local a = next(req); a.record.t = 'n is ' .. a.record.n; return a",
        ])
        let answer = await server.send(.patch, "/tables/t/a", #"{"n":9}"#, stale)
        #expect(answer.json["n"] == 18 && answer.json["t"] == "n is 18", "\(answer.text)")
        let odata = await server.send(
            .patch, "/odata/v4/t('b')", #"{"n":4}"#, [("If-Match", "W/\"AAAAAAAAAAA=\"")], version: nil)
        #expect((200...204).contains(odata.status), "\(odata.text)")
        #expect(await server.send(.get, "/tables/t/b").json["n"] == 8)
    }
}
