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
            func send(_ request: SyncRequest) async throws -> SyncResponse {
                .json(200, request.head.headerFields[HTTPField.Name("X-Tenant")!] ?? "")
            }
        }

        struct Locked: RequestFilter {
            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
                let response = try await next(request)
                return response.status == 423 ? try await next(request) : response
            }
        }

        struct Tenant: RequestTransform {
            let name: String

            func request(_ request: SyncRequest) -> SyncRequest {
                var request = request
                request.head.headerFields[HTTPField.Name("X-Tenant")!] = name
                return request
            }
        }

        let client = SluiceClient(endpoint: endpoint, transport: AsyncHTTPTransport(), filters: [Tenant(name: "north")])
        let traced = client.with(RequestLog())

        let request = SyncRequest(HTTPRequest(method: .get, scheme: "https", authority: "example.net", path: "/app"))
        #expect(try await traced.send(request).body.bytes == Array("north".utf8))
        #expect(client.filters.count == 1 && traced.filters.count == 2)
        #expect(client.takesPages && !client.with(Locked()).takesPages)
        let locked = ScriptedTransport([.json(423, ""), .json(200, "")])
        let patient = SluiceClient(endpoint: endpoint, transport: locked, filters: [Locked()])
        #expect(try await patient.send(request).status == 200 && locked.requests.count == 2)
    }
}

private struct RequestLog: RequestFilter {
    func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        try await next(request)
    }
}

struct Session {
    var token: String { get async { "t" } }
    var expiry: Timestamp? { get async { nil } }
    func renew() async throws -> String? { nil }
}

struct SignedIn: TokenProvider {
    let session: Session

    func token() async throws -> String? { await session.token }
    func refresh(refused: String?) async throws -> String? { try await session.renew() }
    func expiry(of token: String) async throws -> Timestamp? { await session.expiry }
}
