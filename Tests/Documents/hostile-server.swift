import Sluice

struct Client {
    func list(_ table: String) async throws -> [JSON] { [] }
}
func myClient(at address: String) -> Client { Client() }
typealias MyTransport = AsyncHTTPTransport
typealias MyStore = MemoryStore
struct MyFilter: Filter {
    func handle(_ request: Request, next: Next) async throws -> Response { try await next(request) }
}
