import Foundation
import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("docs/filters.md")
struct FiltersDocumentTests {
    @Test("the Swift of the page is compiled here")
    func compiled() throws {
        #expect(try DocumentedSwift.notCompiled(of: "filters.md", in: #filePath) == [])
    }

    @Test("the page's filters do what it says")
    func tenant() async throws {
        let endpoint = testEndpoint
        struct AsyncHTTPTransport: Transport {
            func send(_ request: Request) async throws -> Response {
                .json(200, request.head.headerFields[HTTPField.Name("X-Tenant")!] ?? "")
            }
        }

        struct Tenant: Filter {
            let name: String

            func handle(_ request: Request, next: Next) async throws -> Response {
                var request = request
                request.head.headerFields[HTTPField.Name("X-Tenant")!] = name
                return try await next(request)
            }
        }

        let client = SluiceClient(endpoint: endpoint, transport: AsyncHTTPTransport(), filters: [Tenant(name: "north")])
        let traced = client.with(RequestLog())

        let request = Request(HTTPRequest(method: .get, scheme: "https", authority: "example.net", path: "/app"))
        #expect(try await traced.send(request).body.bytes == Array("north".utf8))
        #expect(client.filters.count == 1 && traced.filters.count == 2)
    }

    @Test("placed filters stand as the page prints it")
    func places() throws {
        let endpoint = testEndpoint
        let transport = ScriptedTransport()
        var printed: [String] = []
        func print(_ name: String, _ why: String, separator: String) { printed.append(name + separator + why) }

        let trace = PlacedFilter(
            RequestLog(),
            placement: Placement("trace", band: .observe),
            match: try Match(tables: ["todo*"], methods: ["POST", "PATCH"]))
        let audit = PlacedFilter(Audit(), placement: Placement("audit", after: ["Tenant"], priority: 10))
        let client = SluiceClient(
            endpoint: endpoint, transport: transport, filters: [trace, audit, Tenant(name: "north")])
        for link in try client.filterOrder() { print(link.name, link.why, separator: ": ") }

        let root = URL(fileURLWithPath: #filePath).pathComponents.prefix { $0 != "Tests" }.dropFirst()
        let page = try String(contentsOfFile: "/" + root.joined(separator: "/") + "/docs/filters.md", encoding: .utf8)
        #expect(page.contains("```text\n\(printed.joined(separator: "\n"))\n```"))
    }
}

private struct RequestLog: Filter {
    func handle(_ request: Request, next: Next) async throws -> Response { try await next(request) }
}

private struct Audit: Filter {
    func handle(_ request: Request, next: Next) async throws -> Response { try await next(request) }
}

struct Session {
    var token: String { get async { "t" } }
    var expiry: Timestamp? { get async { nil } }
    func renew() async throws -> String? { nil }
}

private struct Tenant: Filter {
    let name: String
    func handle(_ request: Request, next: Next) async throws -> Response { try await next(request) }
}

struct SignedIn: TokenProvider {
    let session: Session

    func token() async throws -> String? { await session.token }
    func refresh(refused: String?) async throws -> String? { try await session.renew() }
    func expiry(of token: String) async throws -> Timestamp? { await session.expiry }
}
