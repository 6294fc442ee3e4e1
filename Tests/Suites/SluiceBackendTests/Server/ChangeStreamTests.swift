import Foundation
import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite(.timeLimit(.minutes(1))) struct ChangeStreamTests {
    /// An event as its fields say.
    private struct Event: Sendable {
        var kind = ""
        var id = ""
        var data: JSON = .null

        init(_ bytes: [UInt8]) {
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                if line.hasPrefix("event: ") { kind = String(line.dropFirst(7)) }
                if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
                if line.hasPrefix("data: ") { data = (try? JSON(parsing: String(line.dropFirst(6)))) ?? .null }
            }
        }
    }

    private func head(_ path: String, token: String? = nil, last: String? = nil, version: String? = "2.0.0")
        -> HTTPRequest
    {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "backend.test", path: path)
        head.headerFields[.accept] = "text/event-stream"
        head.headerFields[HTTPField.Name("ZUMO-API-VERSION")!] = version
        head.headerFields[HTTPField.Name("X-ZUMO-AUTH")!] = token
        head.headerFields[HTTPField.Name("Last-Event-ID")!] = last
        return head
    }

    private func begin(_ head: HTTPRequest, _ backend: Backend) async throws -> (Event, ChangeStream) {
        #expect(ChangeStream.isAsked(by: head))
        guard case .stream(let first, let stream) = await ChangeStream.begin(head, backend) else {
            throw Refused()
        }
        return (Self.events(first).last ?? Event(first), stream)
    }

    /// The events of some bytes.
    private static func events(_ bytes: [UInt8]) -> [Event] {
        String(decoding: bytes, as: UTF8.self).components(separatedBy: "\n\n").filter { !$0.isEmpty }
            .map { Event(Array($0.utf8)) }
    }

    /// What a client is sent first that comes back with the token of an event.
    private func resumed(_ head: HTTPRequest, _ backend: Backend) async throws -> [Event] {
        guard case .stream(let first, _) = await ChangeStream.begin(head, backend) else { throw Refused() }
        return Self.events(first)
    }

    private struct Refused: Error {}

    @Test("a stream begins now, tells of each commit, and goes on where it was", arguments: ["2.0.0", "3.0.0", nil])
    func follows(_ version: String?) async throws {
        let fixture = try await BackendFixture.empty()
        _ = await fixture.send(.post, "/tables/t", #"{"id":"old"}"#)
        var (ready, stream) = try await begin(head("/tables/t/changes", version: version), fixture.backend)
        #expect(ready.kind == "ready" && !ready.id.isEmpty)
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a","n":1}"#)
        let first = Event(try #require(await stream.next()))
        #expect(first.kind == "changes" && first.data[0]?["id"] == "a" && first.data.count == 1)
        // One that waits is woken by the commit.
        let waiting = Task { [stream] in
            var stream = stream
            return await stream.next()
        }
        try await Task.sleep(for: .milliseconds(50))
        _ = await fixture.send(.delete, "/tables/t/a")
        let second = Event(try #require(await waiting.value))
        #expect(second.data[0]?["deleted"] == true)
        // One that comes back hears of each record once, as it is now, and then goes on.
        for last in [ready.id, first.id] {
            let events = try await resumed(head("/tables/t/changes", last: last, version: version), fixture.backend)
            #expect(events.map(\.kind) == ["changes", "ready"])
            #expect(events.first?.data.count == 1 && events.first?.data[0]?["deleted"] == true)
            #expect(events.last?.id == second.id)
        }
        let none = try await resumed(head("/tables/t/changes", last: second.id, version: version), fixture.backend)
        #expect(none.map(\.kind) == ["ready"])
    }

    @Test("a user hears of nothing that is another's, and a table that needs a user has no stream without one")
    func users() async throws {
        let fixture = try await BackendFixture(
            tables: [.init("t", perUser: "owner")],
            authentication: .init(secret: .text(TestToken.secret)))
        let (ann, bob) = (try await TestToken.user("ann"), try await TestToken.user("bob"))
        guard case .refusal(let answer) = await ChangeStream.begin(head("/tables/t/changes"), fixture.backend) else {
            throw Refused()
        }
        #expect(answer.status == 401)
        var (_, stream) = try await begin(head("/tables/t/changes", token: ann), fixture.backend)
        _ = await fixture.send(.post, "/tables/t", #"{"id":"b"}"#, headers: [("X-ZUMO-AUTH", bob)])
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a"}"#, headers: [("X-ZUMO-AUTH", ann)])
        var ids: [String?] = []
        while ids.isEmpty {
            ids = Event(try #require(await stream.next())).data.elements?.map { $0["id"]?.string } ?? []
        }
        #expect(ids == ["a"])
    }

    @Test("there is a sign of life without changes, an end for a token that counts no more, and 404 for no table")
    func ends() async throws {
        let fixture = try await BackendFixture.empty(softDelete: false)
        let (_, stream) = try await begin(head("/tables/t/changes"), fixture.backend)
        let waiting = Task {
            var stream = stream
            return await stream.next()
        }
        let beating = Task {
            while (try? await Task.sleep(for: .milliseconds(20))) != nil { fixture.backend.served.signals.beat() }
        }
        defer { beating.cancel() }
        #expect(await waiting.value?.first == UInt8(ascii: ":"))
        // A record that is removed for good leaves no trace that could be told.
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a"}"#)
        _ = await fixture.send(.delete, "/tables/t/a")
        var rest = stream
        #expect(Event(try #require(await rest.next())).kind == "end")
        #expect(await rest.next() == nil)
        guard case .refusal(let answer) = await ChangeStream.begin(head("/tables/none/changes"), fixture.backend) else {
            throw Refused()
        }
        #expect(answer.status == 404)
        var plain = head("/tables/t/changes")
        plain.headerFields[.accept] = "application/json"
        #expect(!ChangeStream.isAsked(by: plain))
    }

    @Test("a task that is cancelled waits no longer")
    func cancels() async throws {
        let fixture = try await BackendFixture.empty()
        let (_, stream) = try await begin(head("/tables/t/changes"), fixture.backend)
        let waiting = Task {
            var stream = stream
            return await stream.next()
        }
        try await Task.sleep(for: .milliseconds(50))
        waiting.cancel()
        #expect(await waiting.value == nil)
    }
}
