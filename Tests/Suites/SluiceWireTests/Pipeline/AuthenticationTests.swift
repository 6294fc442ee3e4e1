import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Synchronization
import Testing

@Suite("Authentication")
struct AuthenticationTests {
    /// Gives `old` until it has refreshed, then `new`, and counts the refreshes.
    final class Tokens: TokenProvider {
        let state = Mutex((token: "old" as String?, refreshes: 0))
        let fresh: String?
        let error: (any Error)?
        init(fresh: String? = "new", error: (any Error)? = nil) { (self.fresh, self.error) = (fresh, error) }
        var refreshes: Int { state.withLock { $0.refreshes } }
        func token() async throws -> String? { state.withLock { $0.token } }
        func refresh(refused: String?) async throws -> String? {
            state.withLock { $0.refreshes += 1 }
            try await Task.sleep(for: .milliseconds(30))
            if let error { throw error }
            state.withLock { $0.token = fresh }
            return fresh
        }
    }
    struct Odd: Error {}

    let request = Dialect.azureV2.lookup(table: "t", id: "1", endpoint: testEndpoint)
    static let zumo = field("X-ZUMO-AUTH")

    func options(_ provider: any TokenProvider, _ scheme: ClientOptions.TokenScheme = .zumo) -> ClientOptions {
        var options = quickOptions()
        options.tokenProvider = provider
        options.tokenScheme = scheme
        return options
    }

    /// Answers 401 to every token but `new`.
    func server() -> ScriptedTransport {
        ScriptedTransport { request in
            let token = request.head.headerFields[Self.zumo]
            return token == "new" ? .json(200, #"{"id":"1"}"#) : .json(401, "")
        }
    }

    @Test("the token is sent as the scheme says")
    func schemes() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, #"{"id":"1"}"#))
        _ = try await client(transport, options: options(Tokens())).send(request)
        _ = try await client(transport, options: options(Tokens(), .bearer)).send(request)
        #expect(transport.requests[0].head.headerFields[Self.zumo] == "old")
        #expect(transport.requests[0].head.headerFields[.authorization] == nil)
        #expect(transport.requests[1].head.headerFields[.authorization] == "Bearer old")
    }

    @Test("all requests that are refused at once wait for one refresh, filtered copies too")
    func oneRefresh() async throws {
        let tokens = Tokens()
        let transport = server()
        let original = client(transport, options: options(tokens))
        let copy = original.with(Tap { try await $1($0) })
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<20 {
                group.addTask { try await (index % 2 == 0 ? original : copy).send(request).status }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 20) && tokens.refreshes == 1)
        _ = try await original.send(request)
        #expect(tokens.refreshes == 1)
    }

    @Test("a request is sent once more after 401, not twice")
    func onceMore() async throws {
        let transport = ScriptedTransport(otherwise: .json(401, ""))
        #expect(try await client(transport, options: options(Tokens())).send(request).status == 401)
        #expect(transport.requests.map { $0.head.headerFields[Self.zumo] } == ["old", "new"])
    }

    @Test("without a fresh token the 401 is the answer", arguments: [nil, "old"])
    func noFreshToken(fresh: String?) async throws {
        let transport = server()
        #expect(try await client(transport, options: options(Tokens(fresh: fresh))).send(request).status == 401)
        #expect(transport.requests.count == 1)
    }

    @Test("a provider's failure is one of authorization, its network error one of the network")
    func providerFails() async throws {
        let odd = client(server(), options: options(Tokens(error: Odd())))
        let error = await #expect(throws: SluiceError.self) { try await odd.send(request) }
        #expect(error?.code == .unauthorized && error?.cause is Odd)
        var quick = options(Tokens(error: SluiceError(.network, "down")))
        quick.retry = .never
        let down = client(server(), options: quick)
        #expect(await #expect(throws: SluiceError.self) { try await down.send(request) }?.code == .network)
    }

    @Test("the token goes to the endpoint's own origin only")
    func origin() async throws {
        let transport = ScriptedTransport(otherwise: .json(401, ""))
        let tokens = Tokens()
        let client = client(transport, options: options(tokens))
        for (scheme, authority) in [("http", "example.net"), ("https", "example.net:8443"), ("https", "evil.net")] {
            var foreign = request
            foreign.head.scheme = scheme
            foreign.head.authority = authority
            #expect(try await client.send(foreign).status == 401)
        }
        #expect(transport.requests.allSatisfy { $0.head.headerFields[Self.zumo] == nil })
        #expect(transport.requests.count == 3 && tokens.refreshes == 0)
    }

    @Test("a credential of the request's own stays")
    func own() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, #"{"id":"1"}"#))
        var mine = request
        mine.head.headerFields[Self.zumo] = "mine"
        _ = try await client(transport, options: options(Tokens())).send(mine)
        #expect(transport.requests[0].head.headerFields[Self.zumo] == "mine")
    }

    @Test("a token that no header field can hold is refused and not told")
    func badToken() async throws {
        struct Bad: TokenProvider {
            func token() async throws -> String? { "secret\r\nX: y" }
            func refresh(refused: String?) async throws -> String? { nil }
        }
        let client = client(server(), options: options(Bad()))
        let error = await #expect(throws: SluiceError.self) { try await client.send(request) }
        #expect(error?.code == .invalidArgument && error.map { !"\($0)".contains("secret") } == true)
    }
}
