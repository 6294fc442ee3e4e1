import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Filter chain")
struct FilterChainTests {
    let request = SyncRequest(
        HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/"),
        context: SyncRequest.Context(source: .push, table: "t", recordID: "1"))
    struct Odd: Error {}

    @Test("the first filter is the outermost, on the way down and up")
    func order() async throws {
        let trace = Recorder<String>()
        func named(_ name: String) -> Tap {
            Tap { request, next in
                trace.add("\(name) down")
                defer { trace.add("\(name) up") }
                return try await next(request)
            }
        }
        let transport = ScriptedTransport { _ in
            trace.add("transport")
            return .json(200, "")
        }
        _ = try await FilterChain([named("a"), named("b")], transport: transport).send(request)
        #expect(trace.all == ["a down", "b down", "transport", "b up", "a up"])
    }

    @Test("a filter may answer without the rest of the chain")
    func shortCircuit() async throws {
        let transport = ScriptedTransport()
        let chain = FilterChain([Tap { _, _ in .json(207, "mine") }], transport: transport)
        #expect(try await chain.send(request).status == 207)
        #expect(transport.requests.isEmpty)
    }

    @Test("a filter may send twice")
    func doubleNext() async throws {
        let transport = ScriptedTransport([.json(500, ""), .json(200, "")])
        let twice = Tap { request, next in
            _ = try await next(request)
            return try await next(request)
        }
        #expect(try await FilterChain([twice], transport: transport).send(request).status == 200)
        #expect(transport.requests.count == 2)
    }

    @Test("a filter sees what it changes, and those outside of it do not")
    func changes() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, "old"))
        let outer = Tap { request, next in
            let response = try await next(request)
            #expect(request.head.path == "/" && response.body.bytes == Array("new".utf8))
            return response
        }
        let inner = Tap { request, next in
            var request = request
            request.head.path = "/changed"
            var response = try await next(request)
            response.body = MessageBody(bytes: Array("new".utf8))
            return response
        }
        _ = try await FilterChain([outer, inner], transport: transport).send(request)
        #expect(transport.requests[0].head.path == "/changed")
    }

    @Test("a filter's own error names the filter, the table and the record")
    func ownError() async throws {
        let chain = FilterChain(
            [Tap { try await $1($0) }, Tap { _, _ in throw Odd() }], transport: ScriptedTransport())
        let error = await #expect(throws: SluiceError.self) { try await chain.send(request) }
        #expect(error?.code == .filter && error?.cause is Odd && error?.message.contains("Tap") == true)
        #expect(error?.table == "t" && error?.recordID == "1")
    }

    @Test("a transport's foreign error is one of the network, and names the transport")
    func transportError() async throws {
        let chain = FilterChain([Tap { try await $1($0) }], transport: ScriptedTransport([.failure(Odd())]))
        let error = await #expect(throws: SluiceError.self) { try await chain.send(request) }
        #expect(error?.code == .network && error?.message.contains("ScriptedTransport") == true)
    }

    @Test("an error of Sluice passes as it is, and a cancellation is one")
    func passing() async throws {
        let full = FilterChain(
            [Tap { try await $1($0) }], transport: ScriptedTransport([.failure(SluiceError(.tooLarge, "x"))]))
        #expect(await #expect(throws: SluiceError.self) { try await full.send(request) }?.code == .tooLarge)
        let cancelled = FilterChain([Tap { _, _ in throw CancellationError() }], transport: ScriptedTransport())
        #expect(await #expect(throws: SluiceError.self) { try await cancelled.send(request) }?.code == .cancelled)
    }
}
