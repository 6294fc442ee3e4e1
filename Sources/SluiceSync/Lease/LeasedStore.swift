internal import SluiceBase

/// A store in the hands of a lease's holder: each write first sees that the lease is still the holder's, in the same
/// transaction. So a holder that stood still while another took over can do no harm when it wakes.
struct LeasedStore: LocalStore {
    private let store: any LocalStore
    /// The last holder before this one.
    private let before: LeaseRecord
    /// This holder.
    private let holder: String

    /// The store for a new holder, whose lease has been taken already.
    init(_ store: any LocalStore, holder: String) async throws {
        self.store = store
        self.holder = holder
        before = try await store.read { try LeaseRecord($0) }
    }

    func define(_ tables: [TableSchema]) async throws { try await store.define(tables) }

    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) throws -> Result) async throws -> Result {
        try await store.read(body)
    }

    func write<Result: Sendable>(_ body: @Sendable (any StoreWriter) throws -> Result) async throws -> Result {
        try await store.write { writer in
            try confirm(writer)
            return try body(writer)
        }
    }

    func close() async throws { try await store.close() }

    private func confirm(_ writer: any StoreWriter) throws {
        let record = try LeaseRecord(writer)
        if record.holder == holder { return }
        guard record == before else {
            throw SluiceError(
                .storeLeaseLost, "another process took over the store's synchronisation, so this one ended; try again")
        }
        // The first write: no transaction of its own, which would cost a wait for the disk.
        try record.pass(to: holder, in: writer)
    }
}
