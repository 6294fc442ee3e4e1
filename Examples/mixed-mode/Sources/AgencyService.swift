internal import Sluice
internal import SluiceBackend

/// The service of the example: the embedded backend in memory, served as OData, with a listener that comes and goes.
struct AgencyService {
    /// The service's root: the same one each time it listens.
    let endpoint: String
    private let backend: Backend
    private let port: Int
    private var listener: Task<Void, any Error>?

    init() async throws {
        let agencies = BackendConfiguration.Table(
            "Agencies",
            seed: .records([
                ["id": "us-1", "Name": "Atlantic", "Country": "US", "City": "Boston", "Rank": 2],
                ["id": "us-2", "Name": "Bay", "Country": "US", "City": "Oakland", "Rank": 4],
                ["id": "us-3", "Name": "Coast", "Country": "US", "City": "Portland", "Rank": 5],
                ["id": "cn-1", "Name": "Drum Tower", "Country": "CN", "City": "Beijing", "Rank": 6],
                ["id": "cn-2", "Name": "East Gate", "Country": "CN", "City": "Beijing", "Rank": 7],
                ["id": "de-1", "Name": "Fernweh", "Country": "DE", "City": "Berlin", "Rank": 1],
            ]),
            columns: [
                .init("Name", .string), .init("Country", .string), .init("City", .string), .init("Rank", .integer),
            ])
        var bookings = BackendConfiguration.Table(
            "Bookings",
            seed: .records([
                ["id": "b-1", "AgencyID": "us-1", "Price": 120], ["id": "b-2", "AgencyID": "us-1", "Price": 80],
                ["id": "b-3", "AgencyID": "us-2", "Price": 300], ["id": "b-4", "AgencyID": "cn-1", "Price": 210],
            ]),
            columns: [.init("AgencyID", .string), .init("Price", .integer)])
        bookings.references = [.init("agency", column: "AgencyID", table: "Agencies", inverse: "bookings")]
        backend = try await Backend(BackendConfiguration(tables: [agencies, bookings]))
        (listener, port) = try await Self.listen(backend, port: 0)
        endpoint = "http://127.0.0.1:\(port)/odata/v4"
    }

    /// Closes the listener: from now on connections are refused.
    mutating func disconnect() async throws {
        listener?.cancel()
        _ = await listener?.result
        listener = nil
    }

    /// Listens again, on the same port.
    mutating func reconnect() async throws { (listener, _) = try await Self.listen(backend, port: port) }

    /// Ends it for good.
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
        throw SluiceError(.network, "the service ended before it listened")
    }
}
