import SluiceCore

@testable import SluiceBackend

extension BackendFixture {
    /// Runs `body` with the backend after a socket, and gives it the address.
    func listening<Result: Sendable>(
        _ body: @escaping @Sendable (Endpoint) async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
            group.addTask { [backend] in
                defer { continuation.finish() }
                try await backend.serve { continuation.yield($0) }
            }
            var iterator = ports.makeAsyncIterator()
            guard let port = await iterator.next() else {
                try await group.next()
                throw SluiceError(.network, "the listener ended early")
            }
            let result = try await body(try Endpoint("http://127.0.0.1:\(port)"))
            group.cancelAll()
            try await group.waitForAll()
            return result
        }
    }
}
