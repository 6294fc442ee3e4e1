internal import Foundation
internal import SluiceBackend

/// The demo's server: a backend that stays open, and a listener that is closed and opened as the network would.
struct DemoBackend {
    /// The server's address: the same one each time it listens.
    let endpoint: String
    private let backend: Backend
    private let port: Int
    private var listener: Task<Void, any Error>?

    /// Opens a backend with so many movies, in the folder, and listens on a free port.
    init(rows: Int, folder: DemoFolder) async throws {
        try DemoMovies.write(rows, to: folder.file("movies.json"))
        let path = folder.file("backend.yaml")
        let text = """
            database: sqlite:backend.db
            tables:
              movies: { seed: movies.json, pageSize: 1000, softDelete: true }

            """
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8)) else {
            throw CommandFailure(.store, "storeInputOutput", "\(path) cannot be written")
        }
        backend = try await Backend(BackendConfiguration(file: path))
        (listener, port) = try await Self.listen(backend, port: 0)
        endpoint = "http://127.0.0.1:\(port)"
    }

    /// Closes the listener: from now on connections are refused.
    mutating func disconnect() async throws {
        let running = listener
        listener = nil
        running?.cancel()
        _ = await running?.result
    }

    /// Listens again, on the same port.
    mutating func reconnect() async throws { (listener, _) = try await Self.listen(backend, port: port) }

    /// Closes the listener and the backend.
    mutating func close() async throws {
        try await disconnect()
        try await backend.close()
    }

    private static func listen(_ backend: Backend, port: Int) async throws -> (Task<Void, any Error>, Int) {
        let (ports, found) = AsyncThrowingStream.makeStream(of: Int.self)
        let task = Task {
            do {
                try await backend.serve(port: port) { found.yield($0) }
                found.finish()
            } catch {
                found.finish(throwing: error)
                throw error
            }
        }
        for try await port in ports { return (task, port) }
        throw CommandFailure.usage("the demo's server ended before it listened")
    }
}
