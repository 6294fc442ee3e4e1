import HTTPTypes
import SluiceCore
import Synchronization
import Testing

@testable import SluiceDaemon

@Suite struct InspectorTests {
    /// A clock that is set by hand.
    private final class Clock: Sendable {
        let now = Mutex(Timestamp("2026-01-01T00:00:00Z")!)
        var environment: SyncEnvironment {
            var environment = SyncEnvironment.system
            environment.steady = { self.now.withLock { $0 } }
            return environment
        }
        func pass(_ time: Duration) { now.withLock { $0 = $0.advanced(by: time) } }
    }

    private func request(cookie: String) -> LocalRequest {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:1", path: "/inspector/")
        head.headerFields[.cookie] = cookie
        return LocalRequest(head: head, body: .empty)
    }

    @Test("an address signs in once and for ten minutes; a session lasts half a day, among other cookies")
    func sessions() throws {
        let clock = Clock()
        let sessions = InspectorSessions(environment: clock.environment)
        let ticket = sessions.ticket()
        #expect(ticket.utf8.count == 64)
        #expect(sessions.signIn("") == nil && sessions.signIn(String(ticket.dropLast())) == nil)
        let secret = try #require(sessions.signIn(ticket))
        #expect(sessions.signIn(ticket) == nil)
        #expect(sessions.admits(request(cookie: "a=b; own=\(secret)"), cookie: "own"))
        #expect(!sessions.admits(request(cookie: "other=\(secret)"), cookie: "own"))
        #expect(!sessions.admits(request(cookie: "own=\(ticket)"), cookie: "own"))
        clock.pass(.seconds(12 * 3600 + 1))
        #expect(!sessions.admits(request(cookie: "own=\(secret)"), cookie: "own"))
        let late = sessions.ticket()
        clock.pass(.seconds(601))
        #expect(sessions.signIn(late) == nil)
        // Who asks for many has no more than the newest.
        let many = (0..<20).map { _ in sessions.ticket() }
        #expect(sessions.signIn(many[0]) == nil && sessions.signIn(many[19]) != nil)
    }

    @Test("of a query the timeline shows names and numbers")
    func redaction() {
        let path = "/tables/notes?$filter=name%20eq%20'Ann'&$top=50&x"
        #expect(Timeline.path(path, isWhole: false) == "/tables/notes?$filter=…&$top=50&x")
        #expect(Timeline.path(path, isWhole: true) == path)
        #expect(Timeline.path("/tables/notes/1", isWhole: false) == "/tables/notes/1")
    }

    @Test("the fields of the copies side by side say who changed them, and numbers stay as they are written")
    func fields() {
        func changes(_ base: JSON?, _ local: JSON?, _ server: JSON?) -> [String: String] {
            let fields = FieldComparison(dialect: .azureV2, base: base, local: local, server: server).json
            return Dictionary(
                uniqueKeysWithValues: (fields.elements ?? []).map {
                    ($0["name"]?.string ?? "", $0["changed"]?.string ?? "")
                })
        }
        let base: JSON = ["id": "1", "a": 1, "b": 1, "c": 1, "d": 1, "e": 1]
        let local: JSON = ["id": "1", "a": 2, "b": 1, "c": 2, "d": 2]
        let server: JSON = ["id": "1", "a": 1, "b": 2, "c": 3, "d": 2, "e": 1, "version": "v"]
        #expect(
            changes(base, local, server)
                == [
                    "id": "no", "a": "local", "b": "server", "c": "both", "d": "same", "e": "local",
                    "version": "server",
                ])
        // Without a base all that differs is both sides' change; a side that is not there has changed no field.
        #expect(changes(nil, ["id": "1", "a": 2], ["id": "1", "a": 3]) == ["id": "no", "a": "both"])
        #expect(changes(base, nil, base)["a"] == "no")
        // Null and no value are the same: which of the two is written differs from server to server.
        #expect(changes(["id": "1", "a": .null], ["id": "1"], ["id": "1", "a": .null])["a"] == "no")
        #expect(changes(nil, ["id": "1"], ["id": "1", "a": .null])["a"] == "no")
        let large = FieldComparison(
            dialect: .azureV2, base: nil, local: ["n": 9_007_199_254_740_993], server: nil
        ).json
        #expect(large[0]?["local"] == "9007199254740993")
        #expect(large[0]?["system"] == false)
    }
}
