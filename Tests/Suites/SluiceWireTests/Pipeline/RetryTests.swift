import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Retry")
struct RetryTests {
    let read = Dialect.azureV2.lookup(table: "t", id: "1", endpoint: testEndpoint)
    let online = Dialect.azureV2.insert(table: "t", record: ["id": "1"], endpoint: testEndpoint)
    var push: SyncRequest {
        var request = online
        request.context.source = .push
        request.context.operationID = "op"
        return request
    }

    /// How often a request goes out before it succeeds or gives up.
    func attempts(_ request: SyncRequest, _ step: ScriptedTransport.Step) async -> Int {
        let transport = ScriptedTransport([step, step], otherwise: .json(200, #"{"id":"1"}"#))
        _ = try? await client(transport).send(request)
        return transport.requests.count
    }

    @Test("reads and pushes are repeated after what passes", arguments: [408, 429, 502, 503, 504])
    func passing(status: Int) async {
        #expect(await attempts(read, .json(status, "")) == 3)
        #expect(await attempts(push, .json(status, "")) == 3)
        #expect(await attempts(online, .json(status, "")) == (status == 429 ? 3 : 1))
    }

    @Test("nothing is repeated after an answer that stays", arguments: [200, 304, 400, 401, 404, 409, 412, 500, 501])
    func staying(status: Int) async {
        for request in [read, push, online] { #expect(await attempts(request, .json(status, "")) == 1) }
    }

    @Test("a lost connection is repeated where the request cannot have had an effect, or is known again")
    func network() async {
        for code in [SluiceError.Code.network, .timeout] {
            let lost = ScriptedTransport.Step.failure(SluiceError(code, "x"))
            #expect(await attempts(read, lost) == 3)
            #expect(await attempts(push, lost) == 3)
            #expect(await attempts(online, lost) == 1)
        }
        let refused = SluiceError(.network, "x", cause: RequestNotSent("refused"))
        #expect(await attempts(online, .failure(refused)) == 3)
        #expect(await attempts(read, .failure(SluiceError(.tooLarge, "x"))) == 1)
        #expect(await attempts(read, .failure(SluiceError(.cancelled, "x"))) == 1)
    }

    @Test("the last failure comes back when the attempts are used up")
    func givingUp() async throws {
        let pauses = Recorder<Duration>()
        let transport = ScriptedTransport(otherwise: .json(503, ""))
        #expect(try await client(transport, options: quickOptions(pauses)).send(read).status == 503)
        #expect(transport.requests.count == 4)
        #expect(pauses.all == [.milliseconds(500), .seconds(1), .seconds(2)])
        let down = ScriptedTransport(otherwise: .failure(SluiceError(.network, "down")))
        let error = await #expect(throws: SluiceError.self) { try await client(down).send(read) }
        #expect(error?.code == .network && down.requests.count == 4)
    }

    @Test("the pause is jittered, grows and ends at its limit")
    func pauses() {
        let policy = RetryPolicy(attempts: 9, firstPause: .seconds(1), maximumPause: .seconds(5))
        func pause(_ attempt: Int, _ random: Double, _ asked: Duration? = nil) -> Duration {
            policy.pause(after: attempt, random: random, asked: asked)
        }
        #expect(pause(0, 0) == .milliseconds(500) && pause(0, 1) == .seconds(1))
        #expect(pause(2, 0) == .seconds(2) && pause(3, 1) == .seconds(5) && pause(1000, 1) == .seconds(5))
        #expect(pause(0, 0, .seconds(3)) == .seconds(3) && pause(0, 0, .seconds(3600)) == .seconds(5))
        #expect(pause(0, 1, .zero) == .seconds(1))
    }

    @Test(
        "Retry-After is seconds or a date",
        arguments: [
            ("120", 120), (" 0 ", 0), ("99999999999999999999", 31_536_000), ("Sun, 06 Nov 1994 08:49:37 GMT", 37),
            ("Sun, 06 Nov 1994 08:48:00 GMT", 0), ("-1", nil), ("soon", nil), ("", nil), ("1.5", nil),
            ("Sun, 31 Feb 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49:37 CET", nil),
        ] as [(String, Int?)])
    func retryAfter(field: String, seconds: Int?) throws {
        let now = try #require(Timestamp("1994-11-06T08:49:00Z"))
        #expect(RetryAfter.duration(field, now: now) == seconds.map { .seconds($0) })
    }

    @Test("a date is one of the server's clock, however wrong that or this machine's is")
    func serverClock() throws {
        let now = try #require(Timestamp("1994-11-06T08:49:00Z"))
        var fields: HTTPFields = [
            .retryAfter: "Sun, 06 Nov 1994 09:49:40 GMT", .date: "Sun, 06 Nov 1994 09:49:37 GMT",
        ]
        #expect(RetryAfter.duration(fields, now: now) == .seconds(3))
        fields[.date] = "soon"
        #expect(RetryAfter.duration(fields, now: now) == .seconds(3640))
        #expect(RetryAfter.duration([.date: "Sun, 06 Nov 1994 09:49:37 GMT"], now: now) == nil)
    }

    @Test("a pause that is cancelled ends the request")
    func cancelled() async throws {
        var options = ClientOptions()
        options.retry.firstPause = .seconds(60)
        options.retry.maximumPause = .seconds(60)
        let client = client(ScriptedTransport(otherwise: .json(503, "")), options: options)
        let task = Task { try await client.send(read) }
        try await Task.sleep(for: .milliseconds(20))
        task.cancel()
        #expect(await #expect(throws: SluiceError.self) { try await task.value }?.code == .cancelled)
    }

    @Test("the server's Retry-After is kept")
    func keptRetryAfter() async throws {
        let pauses = Recorder<Duration>()
        let transport = ScriptedTransport(
            [.json(503, "", ["Retry-After": "17"])], otherwise: .json(200, #"{"id":"1"}"#))
        _ = try await client(transport, options: quickOptions(pauses)).send(read)
        #expect(pauses.all == [.seconds(17)])
    }

    @Test("where the server asks for more than the longest pause, its answer comes back at once")
    func longRetryAfter() async throws {
        for asked in ["31", "1000000000", "Fri, 31 Dec 9999 23:59:59 GMT"] {
            let transport = ScriptedTransport(otherwise: .json(503, "", ["Retry-After": asked]))
            let client = client(transport)
            #expect(try await client.send(read).status == 503)
            #expect(transport.requests.count == 1)
            #expect(client.pace.asked(.system)?.length ?? .zero > .seconds(30))
        }
    }

    @Test("a pause that a server asks for lasts, though it answers other requests, and though it then asks for less")
    func otherAnswers() async throws {
        let now = Mutex(Timestamp(ticks: 0))
        let environment = SyncEnvironment(now: { now.withLock { $0 } }, makeID: { "" })
        var options = quickOptions()
        options.environment = environment
        let transport = ScriptedTransport(
            [.json(503, "", ["Retry-After": "60"]), .json(503, "", ["Retry-After": "40"])],
            otherwise: .json(200, #"{"id":"1"}"#))
        let client = client(transport, options: options)
        #expect(try await client.send(read).status == 503)
        #expect(try await client.send(read).status == 503)
        #expect(try await client.send(read).status == 200)
        #expect(client.pace.asked(environment)?.length == .seconds(60))
        now.withLock { $0 = $0.advanced(by: .seconds(60)) }
        #expect(client.pace.asked(environment) == nil)
    }

    @Test(
        "a pause of a year is kept for an hour, or for what the schedule says, and hides no later one",
        arguments: [3600, 60])
    func endless(longest: Int64) async throws {
        let now = Mutex(Timestamp(ticks: 0))
        let environment = SyncEnvironment(now: { now.withLock { $0 } }, makeID: { "" })
        var options = quickOptions()
        options.environment = environment
        let transport = ScriptedTransport(
            [.json(503, "", ["Retry-After": "31536000"]), .json(503, "", ["Retry-After": "40"])],
            otherwise: .json(503, ""))
        let client = client(transport, options: options)
        if longest != 3600 { client.pace.bound(by: .seconds(longest)) }
        #expect(try await client.send(read).status == 503)
        #expect(client.pace.asked(environment)?.length == .seconds(longest))
        now.withLock { $0 = $0.advanced(by: .seconds(longest)) }
        #expect(client.pace.asked(environment) == nil)
        #expect(try await client.send(read).status == 503)
        #expect(client.pace.asked(environment)?.length == .seconds(40))
    }

    @Test("a Retry-After that means nothing is none", arguments: ["-1", "soon", "", "1.5", "１２"])
    func garbage(field: String) async throws {
        let pauses = Recorder<Duration>()
        let transport = ScriptedTransport(
            [.json(503, "", ["Retry-After": field])], otherwise: .json(200, #"{"id":"1"}"#))
        let client = client(transport, options: quickOptions(pauses))
        #expect(try await client.send(read).status == 200)
        #expect(pauses.all == [.milliseconds(500)] && client.pace.asked(.system) == nil)
    }

    @Test("when a server fails altogether, each request is soon sent once only, until it answers again")
    func budget() async throws {
        let isDown = Mutex(true)
        let transport = ScriptedTransport { _ in isDown.withLock { $0 } ? .json(503, "") : .json(200, #"{"id":"1"}"#) }
        var options = quickOptions()
        options.retry.budget = 10
        let client = client(transport, options: options)
        for _ in 0..<20 { _ = try await client.with(Tap { try await $1($0) }).send(read) }
        #expect(transport.requests.count == 20 + 10)
        isDown.withLock { $0 = false }
        for _ in 0..<30 { _ = try await client.send(read) }
        isDown.withLock { $0 = true }
        let before = transport.requests.count
        for _ in 0..<20 { _ = try await client.send(read) }
        let repeats = transport.requests.count - before - 20
        #expect((2...3).contains(repeats))
    }

    @Test("each repeat of a page is taken from the budget, and a group goes again as one")
    func pageBudget() async throws {
        let transport = ScriptedTransport(otherwise: .json(503, ""))
        var options = quickOptions()
        options.retry.budget = 10
        let page = RequestPage(Array(repeating: read, count: 30))
        _ = await client(transport, options: options).chain.send(page)
        #expect(transport.requests.count == 30 + 10)
        let group = RequestPage(Array(repeating: read, count: 3), group: .init(name: "g", count: 3))
        _ = await client(transport, options: options).chain.send(group)
        #expect(transport.requests.count == 40 + 3 * options.retry.attempts)
    }
}
