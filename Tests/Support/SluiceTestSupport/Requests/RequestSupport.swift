package import HTTPTypes
package import SluiceCore
internal import SluiceTesting
internal import Synchronization

/// A filter made of a closure.
package struct Tap: RequestFilter {
    package let takesPages = true
    package let body: @Sendable (SyncRequest, RequestFilter.Next) async throws -> SyncResponse
    package init(_ body: @escaping @Sendable (SyncRequest, RequestFilter.Next) async throws -> SyncResponse) {
        self.body = body
    }
    package func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        try await body(request, next)
    }
}

/// A list that closures of several tasks add to.
package final class Recorder<Element: Sendable>: Sendable {
    private let list = Mutex<[Element]>([])
    package init() {}
    package var all: [Element] { list.withLock { $0 } }
    package func add(_ element: Element) { list.withLock { $0.append(element) } }
}

/// Options with no real pause in them.
package func quickOptions(_ pauses: Recorder<Duration> = Recorder()) -> ClientOptions {
    var options = ClientOptions()
    options.environment.sleep = { pauses.add($0) }
    options.environment.random = { 1 }
    return options
}

package func field(_ name: String) -> HTTPField.Name { HTTPField.Name(name)! }

package let testEndpoint: Endpoint = {
    guard let endpoint = try? Endpoint("https://example.net/app") else { fatalError("the address is valid") }
    return endpoint
}()

package func client(
    _ transport: any Transport, dialect: Dialect = .azureV2, filters: [any RequestFilter] = [],
    options: ClientOptions = quickOptions()
) -> SluiceClient {
    SluiceClient(
        endpoint: testEndpoint, dialect: dialect, transport: transport, filters: filters, options: options)
}
