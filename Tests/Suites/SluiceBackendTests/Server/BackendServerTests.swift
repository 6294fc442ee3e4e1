import HTTPTypes
import Logging
import ServiceLifecycle
import SluiceCore
import Synchronization
import Testing

@testable import SluiceBackend
@testable import SluiceHTTP

@Suite("Listener") struct BackendServerTests {
    /// Runs a listener for as long as `body` runs, and gives it the port.
    private func serving<Result: Sendable>(
        _ backend: Backend, port: Int = 0, _ body: @escaping @Sendable (Int) async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
            group.addTask {
                defer { continuation.finish() }
                try await backend.serve(port: port) { continuation.yield($0) }
            }
            var iterator = ports.makeAsyncIterator()
            guard let bound = await iterator.next() else {
                try await group.next()
                throw SluiceError(.network, "the listener ended early")
            }
            let result = try await body(bound)
            group.cancelAll()
            try await group.waitForAll()
            return result
        }
    }

    private func get(_ transport: any Transport, _ port: Int, _ path: String) async throws -> SyncResponse {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(port)", path: path)
        head.headerFields[HTTPField.Name("ZUMO-API-VERSION")!] = "2.0.0"
        return try await transport.send(SyncRequest(head))
    }

    @Test("A listener closes, refuses, and listens again on its port with the records kept", .timeLimit(.minutes(1)))
    func restart() async throws {
        let backend = try await BackendFixture.movies().backend
        let transport = AsyncHTTPTransport()
        let port = try await serving(backend) { port in
            let answer = try await get(transport, port, "/tables/movies?$top=1&$inlinecount=allpages")
            #expect(try answer.body.json["count"] == 248)
            #expect(answer.head.headerFields[.date] != nil)
            let page = try await get(transport, port, "/tables/movies")
            #expect(
                page.head.headerFields[HTTPField.Name("Link")!]
                    == "http://127.0.0.1:\(port)/tables/movies?$skip=100; rel=next")
            return port
        }
        let error = await #expect(throws: SluiceError.self) { _ = try await get(transport, port, "/tables/movies") }
        #expect(error?.code == .network)
        let status = try await serving(backend, port: port) { port in
            try await get(transport, port, "/tables/movies/id-000").status
        }
        #expect(status == 200)
    }

    @Test("A graceful shutdown closes idle connections and frees the port", .timeLimit(.minutes(1)))
    func gracefulShutdown() async throws {
        let backend = try await BackendFixture.empty().backend
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let group = ServiceGroup(
            services: [BackendServer(backend: backend) { continuation.yield($0) }], logger: Logger(label: "test"))
        async let run: Void = group.run()
        var iterator = ports.makeAsyncIterator()
        let port = try #require(await iterator.next())
        let transport = AsyncHTTPTransport()
        #expect(try await get(transport, port, "/tables/t").status == 200)
        await group.triggerGracefulShutdown()
        try await run
        let error = await #expect(throws: SluiceError.self) { _ = try await get(transport, port, "/tables/t") }
        #expect(error?.code == .network)
    }

    @Test("A body that is too large is refused", .timeLimit(.minutes(1))) func tooLarge() async throws {
        let backend = try await BackendFixture.empty().backend
        let status = try await serving(backend) { port in
            var head = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:\(port)", path: "/tables/t")
            head.headerFields[HTTPField.Name("ZUMO-API-VERSION")!] = "2.0.0"
            let body = MessageBody(bytes: Array(repeating: 0x20, count: (4 << 20) + 1))
            return try await AsyncHTTPTransport().send(SyncRequest(head, body: body)).status
        }
        #expect(status == 413)
    }

    @Test("A body that is packed with gzip is read as it was, and no other coding is", .timeLimit(.minutes(1)))
    func packedBody() async throws {
        let backend = try await BackendFixture.empty().backend
        let text = String(repeating: "milk and ", count: 400)
        let record: JSON = ["id": "a", "text": JSON(text)]
        @Sendable func post(_ port: Int, _ body: [UInt8], _ coding: String) async throws -> SyncResponse {
            var head = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:\(port)", path: "/tables/t")
            head.headerFields[HTTPField.Name("ZUMO-API-VERSION")!] = "2.0.0"
            head.headerFields[.contentType] = "application/json"
            head.headerFields[.contentEncoding] = coding
            return try await AsyncHTTPTransport().send(SyncRequest(head, body: MessageBody(bytes: body)))
        }
        try await serving(backend) { port in
            let packed = try PackedBodies.packed(record.bytes())
            let made = try await post(port, packed, "gzip")
            #expect(try made.status == 201 && made.body.json["text"]?.string == text)
            #expect(made.head.headerFields[.acceptEncoding] == "gzip")
            let foreign = try await post(port, record.bytes(), "br")
            #expect(foreign.status == 415 && foreign.head.headerFields[.acceptEncoding] == "gzip")
            #expect(try await post(port, record.bytes(), "gzip").status == 400)
            #expect(try await post(port, Array(packed.dropLast(20)), "gzip").status == 400)
            let large = try PackedBodies.packed(Array(repeating: 0x20, count: (4 << 20) + 1))
            #expect(try await post(port, large, "gzip").status == 413)
        }
    }

    @Test("A port that is taken is an error that names it", .timeLimit(.minutes(1))) func taken() async throws {
        let backend = try await BackendFixture.empty().backend
        try await serving(backend) { port in
            let error = await #expect(throws: SluiceError.self) { try await backend.serve(port: port) }
            #expect(error?.message.contains("127.0.0.1:\(port)") == true)
        }
    }
}
