import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Client")
struct SluiceClientTests {
    @Test("a filtered copy leaves the original as it was")
    func filteredCopy() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, "[]"))
        let original = client(transport)
        let copy = original.with(
            Tap { request, next in
                var request = request
                request.head.headerFields[field("X-Copy")] = "1"
                return try await next(request)
            })
        let request = try original.dialect.list(table: "t", query: TableQuery("t"), endpoint: original.endpoint)
        _ = try await copy.send(request)
        _ = try await original.send(request)
        #expect(transport.requests.map { $0.head.headerFields[field("X-Copy")] } == ["1", nil])
        #expect(original.filters.isEmpty && copy.filters.count == 1)
    }

    @Test("the caller's filters see the fields before they are lifted and stripped, and every attempt")
    func userFiltersSeeSystemFields() async throws {
        let transport = ScriptedTransport([.json(503, ""), .json(200, #"{"id":"1"}"#, ["ETag": #""b""#])])
        let seen = Recorder<JSON>()
        let filter = Tap { request, next in
            seen.add(try request.body.json)
            #expect(request.head.headerFields[.ifMatch] == nil)
            #expect(request.head.headerFields[field("X-Correlation-ID")] != nil)
            let response = try await next(request)
            if response.status == 200 { #expect(try response.body.json["version"] == "b") }
            return response
        }
        let client = client(transport, filters: [filter])
        let record: JSON = ["id": "1", "version": "a", "updatedAt": "x", "__note": 1, "text": "y"]
        var request = client.dialect.update(table: "t", id: "1", changes: record, version: nil, endpoint: testEndpoint)
        request.context.source = .push
        request.context.operationID = "op"
        _ = try await client.send(request)
        #expect(seen.all == [record, record])
        #expect(transport.requests.map(\.context.attempt) == [0, 1])
        for sent in transport.requests {
            #expect(try sent.body.json == ["id": "1", "text": "y"])
            #expect(sent.head.headerFields[.ifMatch] == #""a""#)
        }
        #expect(Set(transport.requests.compactMap { $0.head.headerFields[field("X-Correlation-ID")] }).count == 1)
    }

    @Test("what is sealed is what is sent, and a failed seal sends nothing")
    func seal() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, #"{"id":"1"}"#))
        let sealed = Recorder<[UInt8]>()
        let seal = TestSeal { request in
            #expect(transport.requests.isEmpty && request.head.headerFields[.ifMatch] == #""v""#)
            sealed.add(request.body.bytes)
        }
        let plain = client(transport)
        let client = plain.pushing(seal) { WireEnd(wire: $0) }
        let request = client.dialect.update(
            table: "t", id: "1", changes: ["a": 1, "__b": 2], version: "v", endpoint: testEndpoint)
        _ = try await client.send(request)
        #expect(sealed.all == [transport.requests[0].body.bytes] && sealed.all == [Array(#"{"a":1}"#.utf8)])
        let full = plain.pushing(TestSeal { _ in throw SluiceError(.storeFull, "full") }) {
            WireEnd(wire: $0)
        }
        let error = await #expect(throws: SluiceError.self) { try await full.send(request) }
        #expect(error?.code == .storeFull && transport.requests.count == 1)
    }

    @Test("a page passes the built-in filters as bytes")
    func untouched() async throws {
        for dialect in [Dialect.azureV1, .azureV2] {
            let transport = ScriptedTransport([.json(200, #"[{"id":"1"}]"#, ["ETag": #""strong""#])])
            var options = quickOptions()
            options.tokenProvider = FixedToken()
            let client = client(transport, dialect: dialect, options: options)
            var request = try dialect.list(table: "t", query: TableQuery("t"), endpoint: testEndpoint)
            request.context.source = .pull
            #expect(try await client.send(request).body.untouchedBytes != nil)
        }
    }

    @Test("the deadline ends a transport that is silent")
    func deadline() async throws {
        let cancelled = Recorder<Bool>()
        let transport = ScriptedTransport { _ in
            do { try await Task.sleep(for: .seconds(100)) } catch { cancelled.add(true) }
            throw CancellationError()
        }
        var options = quickOptions()
        options.retry = .never
        options.limits.deadline = .seconds(7)
        options.timer = { #expect($0 == .seconds(7)) }
        let client = client(transport, options: options)
        let request = client.dialect.lookup(table: "t", id: "1", endpoint: testEndpoint)
        let error = await #expect(throws: SluiceError.self) { try await client.send(request) }
        #expect(error?.code == .timeout && error?.recordID == "1" && cancelled.all == [true])
    }

    @Test("an answer over the limit is refused, and the transport knows the limits")
    func tooLarge() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, "[ ]"))
        var options = quickOptions()
        options.limits = SyncRequest.Limits(responseBytes: 3, deadline: .seconds(5), minimumRate: 1)
        let request = try Dialect.azureV2.list(table: "t", query: TableQuery("t"), endpoint: testEndpoint)
        _ = try await client(transport, options: options).send(request)
        #expect(transport.requests[0].context.limits == options.limits)
        options.limits.responseBytes = 2
        let small = client(transport, options: options)
        #expect(await #expect(throws: SluiceError.self) { try await small.send(request) }?.code == .tooLarge)
    }

    @Test("cancelling the task ends the request as cancelled")
    func cancellation() async throws {
        let client = client(
            ScriptedTransport { _ in
                try await Task.sleep(for: .seconds(100))
                return .json(200, "")
            })
        let request = client.dialect.lookup(table: "t", id: "1", endpoint: testEndpoint)
        let task = Task { try await client.send(request) }
        task.cancel()
        #expect(await #expect(throws: SluiceError.self) { try await task.value }?.code == .cancelled)
    }
}

/// One token for ever.
struct FixedToken: TokenProvider {
    func token() async throws -> String? { "fixed" }
    func refresh(refused: String?) async throws -> String? { nil }
}

/// A seal that looks at each request of a page.
private struct TestSeal: PageFilter {
    let look: @Sendable (SyncRequest) throws -> Void

    func handle(_ page: RequestPage, next: RequestPage.Next) async -> RequestPage.Answers {
        do {
            for request in page.requests { try look(request) }
        } catch {
            return page.requests.map { _ in .failure(error) }
        }
        return await next(page)
    }
}

/// A transport that sends the requests of a page one after the other.
private struct WireEnd: PageTransport {
    let wire: FilterChain

    func send(_ page: RequestPage) async -> RequestPage.Answers { await wire.send(page) }
}
