import Foundation
import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Credentials and errors")
struct HideCredentialsTests {
    /// A JSON Web Token, made up.
    private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.S6pQ-t_wTfGh0kLmNoPqRsTuVwXyZaBcDeFgHiJkLmN"
    private static let password = "corr3ct/horse+Batt~ery"

    private struct Fixed: TokenProvider {
        func token() async throws -> String? { HideCredentialsTests.token }
        func refresh(refused: String?) async throws -> String? { nil }
    }

    /// The ways in which a server may write what it was sent.
    enum Writing: String, CaseIterable {
        case plain, capitals, percentEncoded, percentEncodedTwice, base64, base64URL, base64WithScheme, hexadecimal
        case jsonEscaped, htmlEscaped, cut, cutInFront, reversed, wrapped, indented

        func text(_ secret: String) -> String {
            let bytes = Array(secret.utf8)
            func hexadecimal(_ prefix: String, _ suffix: String = "") -> String {
                bytes.map { prefix + String(format: "%02X", $0) + suffix }.joined()
            }
            func lines(_ separator: String) -> String {
                stride(from: 0, to: bytes.count, by: 6)
                    .map { String(decoding: bytes[$0...].prefix(6), as: UTF8.self) }.joined(separator: separator)
            }
            switch self {
            case .plain: return secret
            case .capitals: return secret.uppercased()
            case .percentEncoded: return hexadecimal("%")
            case .percentEncodedTwice: return hexadecimal("%25")
            case .base64: return Data(bytes).base64EncodedString()
            case .base64URL:
                return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            case .base64WithScheme: return Data("Bearer \(secret)".utf8).base64EncodedString()
            case .hexadecimal: return hexadecimal("")
            case .jsonEscaped: return hexadecimal(#"\u00"#)
            case .htmlEscaped: return hexadecimal("&#x", ";")
            case .cut: return String(secret.prefix(secret.utf8.count - 3))
            case .cutInFront: return String(secret.dropFirst(4))
            case .reversed: return String(secret.reversed())
            case .wrapped: return lines("\\r\\n")
            case .indented: return lines(" ")
            }
        }

        /// Whether the text holds the secret in this writing, or the middle of it.
        func isFound(of secret: String, in text: String) -> Bool {
            let written = self.text(secret).lowercased()
            let middle = String(written.dropFirst(written.count / 3).prefix(max(8, written.count / 3)))
            return text.lowercased().contains(written) || text.lowercased().contains(middle)
        }
    }

    private func client(
        _ answer: SyncResponse, _ scheme: ClientOptions.TokenScheme = .zumo, filters: [any RequestFilter] = []
    )
        -> SluiceClient
    {
        var options = quickOptions()
        options.tokenProvider = Fixed()
        options.tokenScheme = scheme
        return SluiceTestSupport.client(
            ScriptedTransport(otherwise: .answer(answer)), filters: filters, options: options)
    }

    private func error(_ client: SluiceClient) async throws -> SluiceError {
        try await #require(throws: SluiceError.self) { _ = try await client.table("t").lookup(id: "1") }
    }

    /// All that an error tells, its exchange too.
    private func told(_ error: SluiceError) -> String {
        var text = "\(error)\n\(String(reflecting: error.cause))\n\(error.serverRecord?.description ?? "")"
        if let exchange = error.exchange {
            text += "\n\(exchange.request.head)\n\(exchange.response.head)\n\(exchange.response.head.headerFields)"
            text += String(decoding: exchange.response.body.bytes, as: UTF8.self)
        }
        return text
    }

    @Test(
        "a token that a server repeats stands in no error", arguments: Writing.allCases,
        [ClientOptions.TokenScheme.zumo, .bearer])
    func repeated(_ writing: Writing, _ scheme: ClientOptions.TokenScheme) async throws {
        let written = writing.text(Self.token)
        for body in [#"{"error":"the token \#(written) is not good"}"#, "no: \(written)", #"["\#(written)"]"#] {
            let error = try await error(client(.json(403, body), scheme))
            #expect(!writing.isFound(of: Self.token, in: told(error)), "\(error)")
            #expect(error.message.contains("(hidden)"))
            #expect(error.message.contains("the token ") == body.contains("the token "))
        }
    }

    @Test("nor does it with characters in it that no error shows") func interspersed() async throws {
        for character in ["\u{200B}", "\u{AD}", "\u{7}"] {
            let written = Self.token.map { "\($0)" }.joined(separator: character)
            let body: JSON = ["error": JSON(written)]
            let error = try await error(client(.json(400, body.description)))
            #expect(!told(error).contains(Self.token), "\(error)")
        }
    }

    @Test("neither does a part of it", arguments: 0..<3)
    func parts(_ index: Int) async throws {
        let part = String(Self.token.split(separator: ".")[index])
        let error = try await error(client(.json(400, #"{"error":"bad part \#(part)"}"#)))
        #expect(error.message == "bad part (hidden)")
    }

    @Test("nor what is left of one that is shortened in the middle", arguments: ["...", "…", " [cut] "])
    func shortened(_ ellipsis: String) async throws {
        for left in [8, 20, 40] {
            let written = "\(Self.token.prefix(left))\(ellipsis)\(Self.token.suffix(left))"
            let error = try await error(client(.json(403, #"{"error":"the token \#(written) is not good"}"#)))
            #expect(!told(error).contains(Self.token.suffix(20)), "\(error)")
            #expect(!told(error).contains(Self.token.prefix(20)), "\(error)")
            #expect(error.message.hasPrefix("the token ") && error.message.hasSuffix(" is not good"))
        }
    }

    @Test("user and password of Basic stand in none, decoded or not", arguments: Writing.allCases)
    func basic(_ writing: Writing) async throws {
        let pair = "alice:\(Self.password)"
        let encoded = Data(pair.utf8).base64EncodedString()
        let signed = Tap { request, next in
            var request = request
            request.head.headerFields[.authorization] = "Basic \(encoded)"
            return try await next(request)
        }
        for secret in [encoded, pair, Self.password] {
            let client = client(.json(400, #"{"error":"not \#(writing.text(secret)) again"}"#), filters: [signed])
            let error = try await error(client)
            #expect(!writing.isFound(of: secret, in: told(error)), "\(error)")
        }
    }

    @Test(
        "nor what a filter or a request sends under any name",
        arguments: [
            ("Cookie", "theme=dark; sid=8f3b2c71d0"), ("X-Tenant-Pass", "8f3b2c71d0"), ("X-Anything", "8f3b2c71d0"),
            ("Proxy-Authorization", "Digest username=\"bob\", response=\"8f3b2c71d0\""),
        ])
    func fields(_ name: String, _ value: String) async throws {
        let signed = Tap { request, next in
            var request = request
            request.head.headerFields[field(name)] = value
            return try await next(request)
        }
        let error = try await error(client(.json(400, "\"who is 8f3b2c71d0?\""), filters: [signed]))
        #expect(error.message == "who is (hidden)?")
    }

    @Test("nor a key in an address") func addresses() async throws {
        let keyed = Tap { request, next in
            var request = request
            request.head.path = (request.head.path ?? "") + "?api_key=8f3b%2Bc71d0&$top=5"
            return try await next(request)
        }
        let answer = SyncResponse.json(400, "\"GET /t?api_key=8f3b%2Bc71d0&$top=5 is none; 8f3b+c71d0\"")
        let error = try await error(client(answer, filters: [keyed]))
        #expect(error.message == "GET /t?api_key=(hidden)&$top=5 is none; (hidden)")
    }

    @Test("a refusal's status line and header fields lose it too") func heads() async throws {
        var head = HTTPResponse(status: .init(code: 400, reasonPhrase: "Bad \(Self.token)"))
        head.headerFields[.location] = "https://example.net/login?\(Self.token)"
        head.headerFields[.retryAfter] = "5"
        let error = try await error(client(SyncResponse(head)))
        #expect(!told(error).contains(Self.token))
        #expect(error.exchange?.response.head.headerFields[.location] == nil)
        #expect(error.exchange?.response.head.headerFields[.retryAfter] == "5")
    }

    @Test("the record of a refusal is told without it") func records() async throws {
        let body = #"{"id":"1","version":"v","text":"\#(Self.token)"}"#
        let error = try await error(client(.json(412, body)))
        #expect(error.serverRecord == ["id": "1", "version": "v", "text": "(hidden)"])
        #expect(!told(error).contains(Self.token))
    }

    @Test("a record is data, and stays as it is") func data() async throws {
        let body = #"{"id":"1","version":"v","text":"\#(Self.token)"}"#
        let record = try await client(.json(200, body)).table("t").lookup(id: "1")
        #expect(record["text"]?.string == Self.token)
    }

    @Test("an answer that is no record cannot tell it by what is wrong with it") func broken() async throws {
        let body = #"{"\#(Self.token)":1,"\#(Self.token)":2}"#
        let lookup = try await error(client(.json(200, body)))
        #expect(!told(lookup).contains(Self.token))
        let list = await #expect(throws: SluiceError.self) {
            _ = try await client(.json(200, "[\(body)]")).table("t").records(TableQuery("t")).first { _ in true }
        }
        let text = told(try #require(list))
        #expect(!text.contains(Self.token), "\(text)")
    }

    @Test("what a transport or a filter throws loses it, and the reason stays") func thrown() async throws {
        struct Odd: Error { let text: String }
        struct Failing: Transport {
            func send(_ request: SyncRequest) async throws -> SyncResponse {
                throw SluiceError(
                    .network, "no way",
                    cause: RequestNotSent("of \(request.head.headerFields[field("X-ZUMO-AUTH")] ?? "")"))
            }
        }
        var options = quickOptions()
        options.tokenProvider = Fixed()
        let transport = SluiceTestSupport.client(Failing(), options: options)
        let first = try await error(transport)
        #expect(first.code == .network && first.cause is RequestNotSent)
        let telling = Tap { request, _ in throw Odd(text: request.head.headerFields[field("X-ZUMO-AUTH")] ?? "") }
        let second = try await error(client(.json(200, "{}"), filters: [telling]))
        #expect(second.code == .filter)
        for error in [first, second] { #expect(!told(error).contains(Self.token), "\(told(error))") }
    }

    @Test(
        "a header of a filter's own is told neither by an error nor by an answer of a filter after it",
        arguments: [false, true])
    func ofFilters(answers: Bool) async throws {
        let signing = Tap { request, next in
            var request = request
            request.head.headerFields[field("X-Signature")] = "secretkey123-77"
            return try await next(request)
        }
        let telling = Tap { request, _ in
            let text = "could not send \(request.head.headerFields)"
            if answers { return .json(400, "{\"error\":\"\(text.replacing("\"", with: ""))\"}") }
            throw SluiceError(.network, text)
        }
        let error = try await error(client(.json(200, "{}"), filters: [signing, telling]))
        #expect(error.code == (answers ? .rejected : .network) && error.message.contains("could not send"))
        #expect(!told(error).contains("secretkey"), "\(told(error))")
    }

    @Test("a token that was replaced is not told either") func replaced() async throws {
        actor Renewing: TokenProvider {
            func token() -> String? { "first-token-of-all" }
            func refresh(refused: String?) -> String? { "second-token-of-all" }
        }
        var options = quickOptions()
        options.tokenProvider = Renewing()
        let transport = ScriptedTransport(otherwise: .json(401, "\"first-token-of-all, second-token-of-all\""))
        let error = try await error(SluiceTestSupport.client(transport, options: options))
        #expect(transport.requests.count == 2)
        #expect(error.message == "(hidden), (hidden)")
    }

    @Test("a store keeps the address of its rows without the key in it") func identity() throws {
        func identity(_ address: String) throws -> String { try Endpoint(address).identity }
        #expect(try identity("https://a.example/x?tenant=7&code=8f3b2c71d0") == "https://a.example/x?tenant=7")
        #expect(try identity("https://a.example/x?Api%2DKey=8f3b") == "https://a.example/x")
        for address in ["https://a.example/x?tenant=7", "https://a.example"] {
            #expect(try identity(address) == Endpoint(address).description)
        }
    }

    @Test("what no credential is, is told as it was said") func words() async throws {
        let message = "The item does not exist in table todo; version AAAAAAAAAAE= of application/json"
        let error = try await error(client(.json(400, #"{"error":"\#(message)"}"#)))
        #expect(error.message == message)
    }
}
