import HTTPTypes
import SluiceCore
import SluiceTesting
import Synchronization

/// A filter made of a closure.
struct Tap: Filter {
    let body: @Sendable (Request, Next) async throws -> Response
    init(_ body: @escaping @Sendable (Request, Next) async throws -> Response) { self.body = body }
    func handle(_ request: Request, next: Next) async throws -> Response { try await body(request, next) }
}

/// A list that closures of several tasks add to.
final class Recorder<Element: Sendable>: Sendable {
    private let list = Mutex<[Element]>([])
    var all: [Element] { list.withLock { $0 } }
    func add(_ element: Element) { list.withLock { $0.append(element) } }
}

/// Options with no real pause in them.
func quickOptions(_ pauses: Recorder<Duration> = Recorder()) -> ClientOptions {
    var options = ClientOptions()
    options.environment.sleep = { pauses.add($0) }
    options.environment.random = { 1 }
    return options
}

func field(_ name: String) -> HTTPField.Name { HTTPField.Name(name)! }

let testEndpoint: Endpoint = {
    guard let endpoint = try? Endpoint("https://example.net/app") else { fatalError("the address is valid") }
    return endpoint
}()

func client(
    _ transport: any Transport, dialect: Dialect = .azureV2, filters: [any Filter] = [],
    options: ClientOptions = quickOptions()
) -> SluiceClient {
    SluiceClient(
        endpoint: testEndpoint, dialect: dialect, transport: transport, filters: filters, options: options)
}
