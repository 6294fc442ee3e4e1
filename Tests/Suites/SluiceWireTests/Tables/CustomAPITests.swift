import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Custom calls")
struct CustomAPITests {
    struct Order: Codable, Equatable { var sku: String }

    @Test("JSON goes out by POST and comes back", arguments: Dialect.all)
    func json(dialect: Dialect) async throws {
        let transport = ScriptedTransport([.json(200, #"{"total":1.5}"#), .json(204, "")])
        let orders = client(transport, dialect: dialect).api("orders")
        #expect(try await orders.call(["sku": "A"]) == ["total": 1.5])
        #expect(try await orders.call() == .null)
        #expect(transport.lines == ["POST /app/api/orders", "POST /app/api/orders"])
        #expect(transport.bodies == [#"{"sku":"A"}"#, ""])
        #expect(transport.header("Content-Type") == "application/json" && transport.header("Content-Type", 1) == nil)
        for header in dialect.headers { #expect(transport.header(header.name) == header.value) }
        #expect(transport.requests[0].context.features.contains(.apiJSON) && transport.requests[0].context.table == nil)
    }

    @Test("values go out and come back")
    func typed() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, #"{"sku":"B"}"#))
        let orders = client(transport).api("orders")
        #expect(try await orders.call(Order(sku: "A"), returning: Order.self, method: .put) == Order(sku: "B"))
        #expect(try await orders.call(returning: Order.self, method: .get, path: ["7"]) == Order(sku: "B"))
        #expect(transport.lines == ["PUT /app/api/orders", "GET /app/api/orders/7"])
        #expect(transport.bodies == [#"{"sku":"A"}"#, ""])
        #expect(transport.requests.allSatisfy { $0.context.features.contains(.apiTyped) })
        let error = await #expect(throws: SluiceError.self) { try await orders.call(returning: [Int].self) }
        #expect(error?.code == .invalidRecord && error?.cause is DecodingError && error?.exchange != nil)
    }

    @Test("bytes go out with their own type, and the answer comes back as it is")
    func raw() async throws {
        let transport = ScriptedTransport([.json(202, "a;b", ["X-Batch": "9", "Set-Cookie": "c=d"]), .json(304, "")])
        let report = client(transport).api("report")
        let answer = try await report.send(
            MessageBody(bytes: [1, 2]), method: .patch, headers: [.contentType: "text/csv", .accept: "text/csv"])
        #expect(answer.status == 202 && answer.body.bytes == Array("a;b".utf8))
        #expect(answer.head.headerFields[field("X-Batch")] == "9" && answer.head.headerFields[.setCookie] == "c=d")
        #expect(transport.requests[0].body.bytes == [1, 2] && transport.header("Content-Type") == "text/csv")
        #expect(
            transport.header("Accept") == "text/csv" && transport.requests[0].context.features.contains(.apiGeneric))
        #expect(try await report.send(method: .get).status == 304)
    }

    @Test("name, path and parameters are encoded, and the call stays where it is")
    func address() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, "{}"))
        let api = client(transport).api("a b/c")
        try await api.call(path: ["x/y", "?z", "é"], parameters: ["q": "1+1", "tag": ["a", "b"]])
        #expect(transport.lines == ["POST /app/api/a%20b%2Fc/x%2Fy/%3Fz/%C3%A9?q=1%2B1&tag=a&tag=b"])
        #expect(transport.requests[0].head.authority == "example.net")
        for (name, path) in [("", []), ("..", []), ("a", [".."]), ("a", ["b", ""]), (".", [])] as [(String, [String])] {
            let error = await #expect(throws: SluiceError.self) {
                try await client(transport).api(name).call(path: path)
            }
            #expect(error?.code == .invalidArgument)
        }
        for name in ["Host", "content-length", "Transfer-Encoding", "connection"] {
            let error = await #expect(throws: SluiceError.self) { try await api.call(headers: [field(name): "x"]) }
            #expect(error?.code == .invalidArgument)
        }
        #expect(transport.requests.count == 1)
    }

    @Test("a header field given twice goes out twice, and replaces one of Sluice's own")
    func headers() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, ""))
        var headers = HTTPFields()
        headers.append(HTTPField(name: field("X-A"), value: "1"))
        headers.append(HTTPField(name: field("X-A"), value: "2"))
        headers[field("ZUMO-API-VERSION")] = "2.1.0"
        try await client(transport).api("a").call(headers: headers)
        #expect(transport.requests[0].head.headerFields[values: field("X-A")] == ["1", "2"])
        #expect(transport.requests[0].head.headerFields[values: field("ZUMO-API-VERSION")] == ["2.1.0"])
    }

    @Test(
        "a refusal is an error with the server's words and the exchange",
        arguments: [(400, SluiceError.Code.rejected), (401, .unauthorized), (404, .notFound), (500, .serverFailure)])
    func refused(status: Int, code: SluiceError.Code) async {
        let api = client(ScriptedTransport(otherwise: .json(status, #"{"error":"no such order"}"#))).api("orders")
        for call in [{ try await api.call() }, { _ = try await api.send() }] as [() async throws -> Void] {
            let error = await #expect(throws: SluiceError.self) { try await call() }
            #expect(
                error?.code == code && error?.message == "no such order" && error?.exchange?.response.status == status)
        }
    }

    @Test("an answer that is not JSON is an error where JSON was asked for, and a redirect always")
    func notJSON() async {
        let api = client(ScriptedTransport([.json(200, "<html>"), .json(302, "", ["Location": "https://evil.org/"])]))
            .api("a")
        #expect(await #expect(throws: SluiceError.self) { try await api.call() }?.code == .brokenProtocol)
        #expect(await #expect(throws: SluiceError.self) { try await api.send() }?.code == .brokenProtocol)
    }
}
