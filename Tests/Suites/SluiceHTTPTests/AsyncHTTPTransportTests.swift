import HTTPTypes
import NIOCore
import SluiceCore
import SluiceHTTP
import Testing

@Suite("HTTP transport", .timeLimit(.minutes(10)))
struct AsyncHTTPTransportTests {
    func request(
        _ port: Int, _ method: HTTPRequest.Method = .get, path: String = "/tables/t?secret=1",
        limits: SyncRequest.Limits = SyncRequest.Limits()
    ) -> SyncRequest {
        var head = HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1:\(port)", path: path)
        head.headerFields[HTTPField.Name("X-ZUMO-AUTH")!] = "secret-token"
        return SyncRequest(head, context: SyncRequest.Context(table: "t", recordID: "7", limits: limits))
    }

    /// The error of an exchange with a server that does `acts`.
    func failure(
        _ acts: [RawServer.Act], limits: SyncRequest.Limits = SyncRequest.Limits()
    ) async throws -> SluiceError {
        var found: SluiceError?
        try await RawServer.run(acts) { server in
            found = await #expect(throws: SluiceError.self) {
                try await AsyncHTTPTransport().send(request(server.port, limits: limits))
            }
        }
        let error = try #require(found)
        #expect(!"\(error)".contains("secret") && error.table == "t" && error.recordID == "7")
        return error
    }

    @Test("a request arrives as it was made, and the answer comes back whole")
    func exchange() async throws {
        try await RawServer.run([
            .text("HTTP/1.1 201 Made\r\nETag: \"a\"\r\nX-Twice: 1\r\nX-Twice: 2\r\nContent-Length: 5\r\n\r\nhello"),
            .close,
        ]) { server in
            var request = request(server.port, .post, path: "/tables/my%20t?$filter=(a%20eq%20'%2B')&x=%3A")
            request.body = MessageBody(bytes: Array("{}".utf8))
            let response = try await AsyncHTTPTransport().send(request)
            #expect(response.status == 201 && response.body.bytes == Array("hello".utf8))
            #expect(response.head.headerFields[.eTag] == "\"a\"")
            #expect(response.head.headerFields[values: HTTPField.Name("X-Twice")!] == ["1", "2"])
            let head = try #require(server.requests.first)
            #expect(head.hasPrefix("POST /tables/my%20t?$filter=(a%20eq%20'%2B')&x=%3A HTTP/1.1\r\n"))
            #expect(
                head.contains("X-ZUMO-AUTH: secret-token\r\n") && head.lowercased().contains("content-length: 2\r\n"))
        }
    }

    @Test(
        "a large body is packed for a server that takes it so, and sent as it is where that is refused",
        arguments: [(200, [false, true]), (415, [false, true, false])])
    func packed(_ status: Int, _ codings: [Bool]) async throws {
        let answer =
            "HTTP/1.1 \(status) X\r\nConnection: close\r\nAccept-Encoding: gzip\r\nContent-Length: 0\r\n\r\n"
        // Closed at once, the connection would break while the body is still on its way.
        try await RawServer.run([.text(answer), .pause(.milliseconds(200)), .close]) { server in
            var request = request(server.port, .post)
            request.body = MessageBody(bytes: Array(String(repeating: "milk and ", count: 400).utf8))
            for _ in 0..<2 {
                let response = try await AsyncHTTPTransport().send(request)
                #expect(response.status == status)
            }
            #expect(server.requests.map { $0.lowercased().contains("content-encoding: gzip") } == codings)
        }
    }

    @Test("an answer of any status is an answer", arguments: [204, 304, 401, 412, 500, 503])
    func status(status: Int) async throws {
        try await RawServer.run([.text("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n")]) { server in
            let response = try await AsyncHTTPTransport().send(request(server.port))
            #expect(response.status == status)
        }
    }

    @Test("a redirect is not followed", arguments: [301, 302, 307, 308])
    func redirect(status: Int) async throws {
        try await RawServer.run([.text("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]) { other in
            let answer =
                "HTTP/1.1 \(status) X\r\nLocation: http://127.0.0.1:\(other.port)/\r\nContent-Length: 0\r\n\r\n"
            try await RawServer.run([.text(answer)]) { server in
                let response = try await AsyncHTTPTransport().send(request(server.port))
                #expect(response.status == status)
            }
            #expect(other.requests.isEmpty)
        }
    }

    @Test(
        "an answer that is cut short is an error of the network",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n[{\"id\":",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nhello", "HTTP/1.1 200 OK\r\nContent-Le", "",
            "not HTTP at all\r\n\r\n",
        ])
    func truncated(answer: String) async throws {
        let error = try await failure([.text(answer), .close])
        #expect(error.code == .network && !(error.cause is RequestNotSent))
    }

    @Test("a refused connection is known not to have sent anything, and is not tried again until the deadline")
    func refused() async throws {
        var port = 0
        try await RawServer.run([]) { port = $0.port }
        let error = await #expect(throws: SluiceError.self) {
            try await AsyncHTTPTransport().send(request(port, limits: SyncRequest.Limits(deadline: .seconds(8))))
        }
        #expect(error?.code == .network && error?.cause is RequestNotSent)
        #expect(error.map { !"\($0)".contains("secret") } == true)
    }

    @Test("a slow drip is ended once the grace is over, a quick answer is not")
    func drip() async throws {
        let drip = Array(repeating: [RawServer.Act.text("x"), .pause(.milliseconds(50))], count: 100).flatMap { $0 }
        let head = RawServer.Act.text("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        let error = try await failure(
            [head] + drip, limits: SyncRequest.Limits(minimumRate: 1000, grace: .milliseconds(200)))
        #expect(error.code == .timeout)
        // After a part that is fast enough for days, so that a busy machine makes no drip of it.
        let quick = RawServer.Act.text("HTTP/1.1 200 OK\r\nContent-Length: 1000100\r\n\r\n")
        let acts = [quick, .write(.init(repeating: 1, count: 1_000_000)), .pause(.milliseconds(400))]
        try await RawServer.run(acts + [.write(.init(repeating: 1, count: 100))]) { server in
            let slow = request(server.port, limits: SyncRequest.Limits(minimumRate: 1, grace: .milliseconds(200)))
            let response = try await AsyncHTTPTransport().send(slow)
            #expect(response.body.bytes.count == 1_000_100)
        }
    }

    @Test("a silent server is left at the deadline, before its head or inside its body")
    func deadline() async throws {
        let limits = SyncRequest.Limits(deadline: .milliseconds(200))
        #expect(try await failure([.pause(.hours(1))], limits: limits).code == .timeout)
        let half = RawServer.Act.text("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
        #expect(try await failure([half], limits: limits).code == .timeout)
    }

    @Test("an answer over the limit is refused, whatever its length says")
    func tooLarge() async throws {
        let limits = SyncRequest.Limits(responseBytes: 10)
        for answer in [
            "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\nhello world",
        ] {
            #expect(try await failure([.text(answer), .close], limits: limits).code == .tooLarge)
        }
    }

    @Test("gzip is unpacked, and what says that it was packed is gone")
    func gzip() async throws {
        let packed = Packed.rows
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
        try await RawServer.run([.text(head), .write(packed), .close]) { server in
            let response = try await AsyncHTTPTransport().send(request(server.port))
            #expect(try response.body.json == [["id": "1"]])
            #expect(response.head.headerFields[.contentEncoding] == nil)
            #expect(response.head.headerFields[.contentLength] == nil)
            #expect(server.requests[0].contains("Accept-Encoding: gzip, deflate"))
        }
    }

    @Test("the limit counts what is unpacked")
    func bomb() async throws {
        let packed = Packed.bomb
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
        let acts = [RawServer.Act.text(head), .write(packed), .close]
        #expect(try await failure(acts, limits: SyncRequest.Limits(responseBytes: 199_999)).code == .tooLarge)
        try await RawServer.run(acts) { server in
            let response = try await AsyncHTTPTransport().send(
                request(server.port, limits: SyncRequest.Limits(responseBytes: 200_000)))
            #expect(response.body.bytes.count == 200_000)
        }
    }

    @Test("packed bytes that are broken are an error")
    func brokenGzip() async throws {
        let packed = Array(Packed.rows.prefix(12)) + [0xFF, 0xFF, 0xFF, 0xFF]
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
        #expect(try await failure([.text(head), .write(packed), .close]).code == .network)
    }

    @Test("cancelling the task ends the exchange")
    func cancellation() async throws {
        try await RawServer.run([.pause(.seconds(30))]) { server in
            let task = Task { try await AsyncHTTPTransport().send(request(server.port)) }
            while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            task.cancel()
            #expect(await #expect(throws: SluiceError.self) { try await task.value }?.code == .cancelled)
        }
    }

    @Test("a transport with connections of its own closes them")
    func ownConnections() async throws {
        try await RawServer.run([.text("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]) { server in
            let status = try await AsyncHTTPTransport.withOwnConnections {
                try await $0.send(request(server.port)).status
            }
            #expect(status == 200)
            await #expect(throws: CancellationError.self) {
                try await AsyncHTTPTransport.withOwnConnections { _ in throw CancellationError() }
            }
        }
    }

    @Test("a request without an address is refused")
    func noAddress() async throws {
        let request = SyncRequest(HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/"))
        let error = await #expect(throws: SluiceError.self) { try await AsyncHTTPTransport().send(request) }
        #expect(error?.code == .invalidArgument)
    }
}
