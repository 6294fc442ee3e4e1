import HTTPTypes
import NIOCore
import NIOPosix
import SluiceCore
import SluiceHTTP
import Synchronization
import Testing

@testable import SluiceBackend

/// The limits of a connection, over a socket. None of these has a time within which something must happen.
@Suite struct ConnectionLimitTests {
    /// What a connection answers until it is closed.
    private final class Collector: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        let text = Mutex("")

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            text.withLock { $0 += String(buffer: bytes) }
        }
    }

    private func fixture(_ change: (inout BackendConfiguration) -> Void) async throws -> BackendFixture {
        var configuration = BackendConfiguration(tables: [.init("t")])
        change(&configuration)
        return try await BackendFixture(configuration: configuration)
    }

    /// Sends the texts, and gives back what came until the server closed the connection.
    private func converse(_ texts: [String], with endpoint: Endpoint) async throws -> String {
        let collector = Collector()
        let port = try #require(endpoint.authority.split(separator: ":").last.flatMap { Int($0) })
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { $0.pipeline.addHandler(collector) }
            .connect(host: "127.0.0.1", port: port).get()
        for text in texts { try? await channel.writeAndFlush(ByteBuffer(string: text)) }
        try await channel.closeFuture.get()
        return collector.text.withLock { $0 }
    }

    @Test(
        "a connection without a request, and one whose head never ends, is closed by the server",
        .timeLimit(.minutes(1)),
        arguments: [[], ["GET /tables/t HTT"], ["GET /tables/t HTTP/1.1\r\nHost: a\r\nX-A: b\r\n"]])
    func idle(texts: [String]) async throws {
        let fixture = try await fixture { $0.limits.idleTime = .seconds(1) }
        #expect(try await fixture.listening { try await converse(texts, with: $0) } == "")
    }

    @Test("a body that does not come is not waited for", .timeLimit(.minutes(1))) func body() async throws {
        let fixture = try await fixture { $0.limits.requestTime = .seconds(1) }
        let head = "POST /tables/t HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"
        #expect(try await fixture.listening { try await converse([head], with: $0) } == "")
    }

    /// Heads that are too large, each in another way.
    private static let heads = [
        "field": "GET /tables/t HTTP/1.1\r\nX-A: " + String(repeating: "a", count: 5000) + "\r\n\r\n",
        "address": "GET /tables/t?x=" + String(repeating: "a", count: 5000) + " HTTP/1.1\r\n\r\n",
        "count": "GET /tables/t HTTP/1.1\r\n" + String(repeating: "X-A: b\r\n", count: 30) + "\r\n",
        "together": "GET /tables/t HTTP/1.1\r\n"
            + String(repeating: "X-A: \(String(repeating: "b", count: 400))\r\n", count: 15) + "\r\n",
    ]

    @Test("a head that is too large is 431", .timeLimit(.minutes(1)), arguments: heads.keys.sorted())
    func head(way: String) async throws {
        let request = try #require(Self.heads[way])
        let fixture = try await fixture {
            $0.limits.headBytes = 4096
            $0.limits.headerFields = 20
        }
        #expect(try await fixture.listening { try await converse([request], with: $0) }.hasPrefix("HTTP/1.1 431 "))
    }

    @Test("a body that is larger than the configuration says is 413", .timeLimit(.minutes(1)))
    func largeBody() async throws {
        let fixture = try await fixture { $0.limits.bodyBytes = 1024 }
        let statuses = try await fixture.listening { endpoint in
            var statuses: [Int] = []
            for count in [1024, 1025] {
                var head = HTTPRequest(
                    method: .post, scheme: "http", authority: endpoint.authority, path: "/tables/t")
                head.headerFields[.contentType] = "application/json"
                let text = #"{"id":"\#(count)","x":""#
                let body = text + String(repeating: "x", count: count - text.utf8.count - 2) + #""}"#
                statuses.append(
                    try await AsyncHTTPTransport().send(SyncRequest(head, body: MessageBody(bytes: Array(body.utf8))))
                        .status)
            }
            return statuses
        }
        #expect(statuses == [201, 413])
    }

    @Test("one connection is held, and the second gets its turn when that ends", .timeLimit(.minutes(1)))
    func connections() async throws {
        let fixture = try await fixture {
            $0.limits.connections = 1
            $0.limits.idleTime = .seconds(1)
        }
        let request = "GET /tables/t HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        let answers = try await fixture.listening { endpoint in
            try await withThrowingTaskGroup(of: String.self) { group in
                for text in [[], [request], [], [request]] {
                    group.addTask { try await converse(text, with: endpoint) }
                }
                return try await group.reduce(into: [String]()) { $0.append(String($1.prefix(12))) }.sorted()
            }
        }
        #expect(answers == ["", "", "HTTP/1.1 200", "HTTP/1.1 200"])
    }

    @Test("who comes too often gets 429 with the time to wait, and a stream of changes counts", .timeLimit(.minutes(1)))
    func rate() async throws {
        let fixture = try await fixture { $0.rateLimit = .init(requestsPerSecond: 1, burst: 3) }
        let answers = try await fixture.listening { endpoint in
            var answers: [SyncResponse] = []
            for path in ["/tables/t", "/odata/v4/t", "/nothing", "/tables/t", "/tables/t/changes"] {
                var head = HTTPRequest(
                    method: .get, scheme: "http", authority: endpoint.authority, path: path)
                head.headerFields[.accept] = "text/event-stream, application/json"
                answers.append(try await AsyncHTTPTransport().send(SyncRequest(head)))
            }
            return answers
        }
        #expect(answers.map(\.status) == [200, 200, 404, 429, 429])
        #expect(answers.last?.head.headerFields[.retryAfter] == "1")
    }
}
