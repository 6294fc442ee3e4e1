import HTTPTypes
import SluiceCore
import SluiceHTTP
import Testing

@testable import SluiceBackend

/// What a client of one generation says to a server, request by request, as its own SDK writes it; and what must come
/// back. `{NAME}` in a path, a header or a body stands for what an earlier answer was remembered under.
struct WireSession: Sendable {
    /// A request and what is expected of its answer.
    struct Step: Sendable {
        /// What the request is for, as the documentation says it.
        var title: String
        var method: HTTPRequest.Method
        var path: String
        var headers: [(String, String)] = []
        var body: String?
        var status: Int
        /// Parts that the answer's body must have.
        var contains: [String] = []
        /// Headers that the answer must have.
        var answers: [String] = []
        /// Under which name the answer's entity tag is remembered.
        var remember: String?
        /// Under which name the answer's change token is remembered; documentation shows that name in its place.
        var token: String?
        /// Under which name a link in the answer's body is remembered: that of its property, or else one for the first
        /// of those that lead to changes.
        var link: String?
        /// Whether the documentation of the wire shows it.
        var isShown = true
    }

    /// The client's name: `azure-v1`.
    var name: String
    /// What every request of this client has.
    var headers: [(String, String)]
    var steps: [Step]

    /// Plays the session over a socket, and gives back what went over it, as text.
    func replay(at endpoint: Endpoint) async throws -> String {
        let transport = AsyncHTTPTransport()
        var memory: [String: String] = [:]
        var tokens: [String: String] = [:]
        var transcript: [String] = []
        for step in steps {
            func filled(_ text: String) -> String {
                memory.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
            }
            var head = HTTPRequest(
                method: step.method, scheme: endpoint.scheme, authority: endpoint.authority,
                path: filled(step.path))
            let fields = (headers + step.headers).map { ($0.0, filled($0.1)) }
            for (name, value) in fields {
                head.headerFields.append(HTTPField(name: HTTPField.Name(name)!, value: value))
            }
            let body = step.body.map(filled) ?? ""
            let response = try await transport.send(SyncRequest(head, body: MessageBody(bytes: Array(body.utf8))))
            let text = String(decoding: response.body.bytes, as: UTF8.self)
            #expect(response.status == step.status, "\(name): \(step.title): \(text)")
            for part in step.contains {
                #expect(text.contains(filled(part)), "\(name): \(step.title): \(text)")
            }
            for field in step.answers {
                #expect(response.head.headerFields[HTTPField.Name(field)!] != nil, "\(name): \(step.title): \(field)")
            }
            if let key = step.remember { memory[key] = response.head.headerFields[.eTag] ?? "" }
            if let key = step.token {
                let value = response.head.headerFields[HTTPField.Name("X-Sluice-Delta-Token")!] ?? ""
                memory[key] = value
                tokens[value] = key
            }
            if let key = step.link {
                let json = (try? response.body.json) ?? .null
                let links = ["@odata.deltaLink", "__delta"].compactMap {
                    (json[PropertyName($0)] ?? json["d"]?[PropertyName($0)])?.string
                }
                let link = try #require(links.first, "\(name): \(step.title): \(text)")
                memory[key] = "/" + link.split(separator: "/").dropFirst(2).joined(separator: "/")
                let token = link.split(separator: "deltatoken=").last?.split(separator: "&").first ?? ""
                tokens[String(token)] = "TOKEN-\(tokens.count + 1)"
            }
            guard step.isShown else { continue }
            let exchange = Self.text(step, head, fields, body, response, endpoint)
            transcript.append(tokens.reduce(exchange) { $0.replacing($1.key, with: $1.value) })
        }
        return transcript.joined(separator: "\n")
    }

    private static func text(
        _ step: Step, _ head: HTTPRequest, _ fields: [(String, String)], _ body: String, _ response: SyncResponse,
        _ endpoint: Endpoint
    ) -> String {
        var lines = ["**\(step.title)**", "", "```http", "\(head.method.rawValue) \(head.path ?? "")"]
        lines += fields.map { "\($0.0): \($0.1)" }
        if !body.isEmpty { lines += ["", body] }
        lines += ["", "→ \(response.status)"]
        for name in [
            "ETag", "Last-Modified", "Location", "Link", "Allow", "Content-Type", "Repeatability-Result",
            "Preference-Applied", "X-Sluice-Delta-Token",
        ] {
            guard let value = response.head.headerFields[HTTPField.Name(name)!] else { continue }
            if name == "Content-Type", value.hasPrefix("application/json") { continue }
            lines.append("\(name): \(value)")
        }
        if !response.body.isEmpty { lines += ["", String(decoding: response.body.bytes, as: UTF8.self)] }
        lines += ["```", ""]
        return lines.joined(separator: "\n").replacing(
            "127.0.0.1:\(endpoint.authority.split(separator: ":").last ?? "")", with: "example.net")
    }
}
