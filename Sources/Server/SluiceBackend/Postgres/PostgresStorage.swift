internal import Foundation
internal import SluiceCore
internal import SluicePostgres
internal import Synchronization

/// Records in a PostgreSQL database, shared by several processes.
///
/// Changes are in the order of their commits, across all processes. A writing transaction locks the database's counter
/// before it reads anything, and holds the lock until its commit. Writes that arrive in the meantime are committed
/// together by the next transaction.
final class PostgresStorage: Storage {
    private let address: PostgresAddress
    private let readers: [PostgresWorker]
    /// The number of waiting reads of each reader.
    private let loads: Mutex<[Int]>
    private let writer: PostgresGroupCommit
    private let listener: PostgresListener
    private let replica: PostgresReplica?
    private let tables = PostgresTables()

    /// The most reads waiting for one connection.
    private static let longestQueue = 200
    /// The most tries of a read after lost connections.
    private static let mostTries = 3

    init(_ address: PostgresAddress, replica: PostgresAddress? = nil, _ environment: SyncEnvironment) {
        self.address = address
        readers = (0..<address.readers).map { _ in
            PostgresWorker(label: "sluice.postgres.reader") { try PostgresConnection(address) }
        }
        loads = Mutex(Array(repeating: 0, count: readers.count))
        let replica = replica.map { PostgresReplica($0) }
        self.replica = replica
        writer = PostgresGroupCommit(address, environment, tables) { replica?.note($0) }
        listener = PostgresListener(address)
    }

    var markFile: LastCommitFile? { nil }

    func requireMark() {}

    func onCommit(_ action: @escaping @Sendable () -> Void) {
        writer.onCommit(action)
        listener.start(action)
    }

    func read<Result: Sendable>(
        _ body: @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result {
        let index = loads.withLock { loads -> Int? in
            guard let index = loads.indices.min(by: { loads[$0] < loads[$1] }), loads[index] < Self.longestQueue else {
                return nil
            }
            loads[index] += 1
            return index
        }
        guard let index else { throw SluiceError(.storeBusy, "too many requests wait for the database; try again") }
        defer { loads.withLock { $0[index] -= 1 } }
        let deadline = ContinuousClock.now + address.patience
        var tries = 1
        while true {
            do {
                return try await readers[index].run(before: deadline) { [tables] connection in
                    let transaction = try PostgresTransaction.reading(connection, tables)
                    do {
                        let result = try body(transaction)
                        try transaction.end()
                        return result
                    } catch {
                        transaction.rollBack()
                        throw error
                    }
                }
            } catch let failure as PostgresFailure {
                guard failure.isTransient, tries < Self.mostTries, ContinuousClock.now < deadline else {
                    throw failure.error(address)
                }
                tries += 1
            }
        }
    }

    func read<Result: Sendable>(
        atLeast floor: ReadFloor, _ body: @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result {
        guard let replica, replica.isHere else { return try await read(body) }
        let latest = floor.isLatest ? try await read { try $0.latestPoint() } : nil
        if let result = try await replica.read(atLeast: floor, latest: latest, body) { return result }
        return try await read(body)
    }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result {
        try await writer.write(body)
    }

    func secret() async throws -> String? {
        let rows = try await read { try $0.run("SELECT value FROM sluice_secret") }
        guard case .text(let secret)? = rows.first?.first else {
            throw SluiceError(.storeSchema, "the database \(address) has lost the secret of its processes")
        }
        return secret
    }

    func close() async throws {
        listener.stop()
        for reader in readers { await reader.close() }
        await writer.close()
        await replica?.close()
    }
}
