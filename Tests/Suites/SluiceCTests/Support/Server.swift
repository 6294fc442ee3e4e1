import Foundation
import RepositoryFiles
import SluiceBackend

/// A backend that listens on the loopback, with what the test programs ask for.
enum Server {
    struct DidNotListen: Error {}

    private static let movies = Repository.path("Sources/Program/SluiceCLI/Resources/movies.json")

    /// Runs `body` with the server's address.
    static func use<Result: Sendable>(_ body: (String) async throws -> Result) async throws -> Result {
        let backend = try await Backend(
            BackendConfiguration(
                tables: [
                    .init("movies", seed: .file(path: movies)), .init("films"),
                    .init("secrets", access: .authenticated),
                ], authentication: .init(secret: .text("a key of the tests alone, of 32 bytes at least"))))
        let (ports, found) = AsyncThrowingStream.makeStream(of: Int.self)
        let listener = Task {
            do {
                try await backend.serve(port: 0) { found.yield($0) }
                found.finish()
            } catch {
                found.finish(throwing: error)
            }
        }
        var first: Int?
        for try await port in ports {
            first = port
            break
        }
        guard let first else { throw DidNotListen() }
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body("http://127.0.0.1:\(first)"))
        } catch {
            result = .failure(error)
        }
        listener.cancel()
        await listener.value
        try await backend.close()
        return try result.get()
    }

    /// Runs `body` with the address of a server that takes connections and answers nothing.
    static func silent<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isListening else { throw DidNotListen() }
        return try await body("http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
    }
}
