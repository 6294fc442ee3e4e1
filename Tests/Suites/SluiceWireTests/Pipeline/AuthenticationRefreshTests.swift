import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Authentication: refreshing ahead, once, and not for ever")
struct AuthenticationRefreshTests {
    /// Counts up the tokens it gives; each refresh waits at a gate if there is one.
    final class Tokens: TokenProvider {
        struct State {
            var number = 0
            var expiry: Timestamp?
            var lifetime: Duration?
            var error: (any Error)?
            var isHeld = false
            var refreshes = 0
            var waiting: CheckedContinuation<Void, Never>?
        }
        let state = Mutex(State())
        let time: VirtualTime
        init(_ time: VirtualTime) { self.time = time }

        var refreshes: Int { state.withLock { $0.refreshes } }
        func token() async throws -> String? { "t\(state.withLock { $0.number })" }
        /// A token that was replaced has expired: whoever still holds one may not ask for another.
        func expiry(of token: String) async throws -> Timestamp? {
            state.withLock { token == "t\($0.number)" ? $0.expiry : time.now }
        }
        func refresh(refused: String?) async throws -> String? {
            let isHeld = state.withLock { state in
                state.refreshes += 1
                return state.isHeld
            }
            if isHeld { await withCheckedContinuation { next in state.withLock { $0.waiting = next } } }
            return try state.withLock { state in
                if let error = state.error { throw error }
                state.number += 1
                state.expiry = state.lifetime.map { time.now.advanced(by: $0) }
                return "t\(state.number)"
            }
        }
        func release() async {
            while true {
                if let waiting = state.withLock({ $0.waiting }) { return waiting.resume() }
                await Task.yield()
            }
        }
    }

    private let time = VirtualTime()
    private let request = Dialect.azureV2.lookup(table: "t", id: "1", endpoint: testEndpoint)
    private let field = HTTPField.Name("X-ZUMO-AUTH")!

    private func client(_ tokens: Tokens, _ transport: any Transport) -> SluiceClient {
        var options = ClientOptions(tokenProvider: tokens, retry: .never, environment: time.environment())
        // Longer than any machine is busy: what is held here does not depend on real time.
        options.timer = { _ in try await Task.sleep(for: .seconds(86_400)) }
        return SluiceClient(endpoint: testEndpoint, transport: transport, options: options)
    }

    private var accepting: ScriptedTransport { ScriptedTransport(otherwise: .json(200, #"{"id":"1"}"#)) }
    private var refusing: ScriptedTransport { ScriptedTransport(otherwise: .json(401, "")) }

    private func sent(_ transport: ScriptedTransport) -> [String?] {
        transport.requests.map { $0.head.headerFields[field] }
    }

    @Test("a token that is about to expire is replaced before it is sent, once")
    func ahead() async throws {
        let (tokens, transport) = (Tokens(time), accepting)
        tokens.state.withLock { ($0.expiry, $0.lifetime) = (time.now.advanced(by: .seconds(90)), .seconds(3600)) }
        let client = client(tokens, transport)
        _ = try await client.send(request)
        #expect(sent(transport) == ["t0"])
        time.pass(.seconds(31))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { _ = try await client.send(request) } }
            try await group.waitForAll()
        }
        #expect(sent(transport).dropFirst().allSatisfy { $0 == "t1" } && tokens.refreshes == 1)
    }

    @Test("a token that lives for less than the lead is used until it has expired")
    func shortLived() async throws {
        let (tokens, transport) = (Tokens(time), accepting)
        tokens.state.withLock { ($0.expiry, $0.lifetime) = (time.now, .seconds(8)) }
        let client = client(tokens, transport)
        for _ in 0..<5 { _ = try await client.send(request) }
        #expect(tokens.refreshes == 1)
        time.pass(.seconds(8))
        _ = try await client.send(request)
        #expect(tokens.refreshes == 2 && sent(transport).last == "t2")
    }

    @Test("while the token is good, a refresh that fails ahead of time stops nothing")
    func failingAhead() async throws {
        let (tokens, transport) = (Tokens(time), accepting)
        tokens.state.withLock {
            $0.expiry = time.now.advanced(by: .seconds(30))
            $0.error = SluiceError(.network, "down")
        }
        let client = client(tokens, transport)
        #expect(try await client.send(request).status == 200)
        #expect(sent(transport) == ["t0"])
        time.pass(.seconds(30))
        let error = await #expect(throws: SluiceError.self) { try await client.send(request) }
        #expect(error?.code == .network && transport.requests.count == 1)
    }

    @Test("a server that refuses every token makes for one refresh in each cool-down")
    func refusedForEver() async throws {
        let (tokens, transport) = (Tokens(time), refusing)
        let client = client(tokens, transport)
        for _ in 0..<50 { #expect(try await client.send(request).status == 401) }
        #expect(tokens.refreshes == 1 && transport.requests.count == 51)
        time.pass(.seconds(10))
        for _ in 0..<50 { _ = try await client.send(request) }
        #expect(tokens.refreshes == 2 && transport.requests.count == 102)
    }

    @Test("a provider that cannot refresh is asked once in each cool-down, and after a failure of the network at once")
    func failingProvider() async throws {
        struct Locked: Error {}
        let tokens = Tokens(time)
        let client = client(tokens, refusing)
        tokens.state.withLock { $0.error = Locked() }
        for _ in 0..<5 {
            let error = await #expect(throws: SluiceError.self) { try await client.send(request) }
            #expect(error?.code == .unauthorized)
        }
        #expect(tokens.refreshes == 1)
        time.pass(.seconds(10))
        tokens.state.withLock { $0.error = SluiceError(.network, "down") }
        for _ in 0..<5 { _ = try? await client.send(request) }
        #expect(tokens.refreshes == 6)
    }

    @Test("a cancelled request waits no longer, and the refresh goes on for the others")
    func cancelledWaiter() async throws {
        let tokens = Tokens(time)
        let transport = ScriptedTransport { request in
            request.head.headerFields[HTTPField.Name("X-ZUMO-AUTH")!] == "t0" ? .json(401, "") : .json(200, "{}")
        }
        let client = client(tokens, transport)
        tokens.state.withLock { $0.isHeld = true }
        // The one that began the refresh is cancelled, and so is one that only waits.
        let first = Task { try await client.send(request) }
        while tokens.refreshes == 0 { await Task.yield() }
        let others = (0..<3).map { _ in Task { try await client.send(request).status } }
        while transport.requests.count < 4 { await Task.yield() }
        first.cancel()
        others[0].cancel()
        #expect(await #expect(throws: SluiceError.self) { try await first.value }?.code == .cancelled)
        #expect(await #expect(throws: SluiceError.self) { try await others[0].value }?.code == .cancelled)
        await tokens.release()
        #expect(try await others[1].value == 200)
        #expect(try await others[2].value == 200)
        #expect(tokens.refreshes == 1)
    }
}
