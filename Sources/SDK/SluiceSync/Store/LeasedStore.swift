internal import SluiceBase

/// A store as the holder of a lease writes it: each write first checks that the lease is still the holder's, in the
/// same transaction. So a holder that stood still while another took over can do no harm when it wakes.
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

/// Who synchronised the store last: the one record of ``schema``.
///
/// The lock that keeps others out is the kernel's, and a kernel's lock can be got around: someone breaks the
/// lock of a process that hangs, a lock's file is deleted, a network's file system forgets. So each holder also writes itself
/// down here with its first commit, and each of its commits looks whether that still stands.
struct LeaseRecord: Sendable, Hashable {
    /// How often the lease has changed hands.
    var epoch: Int64
    /// The last holder's own name for itself.
    var holder: String

    static let schema = TableSchema("sluice_lease", columns: [.init("epoch", .integer), .init("holder", .string)])
    private static let id: RecordID = "lease"

    init(epoch: Int64 = 0, holder: String = "") {
        self.epoch = epoch
        self.holder = holder
    }

    /// The record as the store has it.
    init(_ store: any StoreReader) throws {
        let record = try store.record(Self.id, in: Self.schema.name)
        self.init(epoch: record?["epoch"]?.int ?? 0, holder: record?["holder"]?.string ?? "")
    }

    /// Writes down that the lease now belongs to `holder`.
    func pass(to holder: String, in store: any StoreWriter) throws {
        try store.put(
            ["id": JSON(Self.id), "epoch": JSON(epoch + 1), "holder": JSON(holder)], in: Self.schema.name)
    }
}
