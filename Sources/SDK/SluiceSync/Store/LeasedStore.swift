internal import SluiceBase

/// A store that checks the lease: each write first checks, in the same transaction, that the lease is still the
/// holder's. So a process that was suspended during a takeover can do no harm when it resumes.
struct LeasedStore: LocalStore {
    private let store: any LocalStore
    /// The last holder before this one.
    private let before: LeaseRecord
    /// This holder.
    private let holder: String

    /// Makes the store for a new holder, after it has taken the lease.
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
        // Part of the first write: a transaction of its own would cost a disk sync.
        try record.pass(to: holder, in: writer)
    }
}

/// The last holder of the store's lease: the one record of ``schema``.
///
/// A kernel lock keeps other processes out, but it can be bypassed: a user breaks the lock of a hung process, the lock
/// file is deleted, a network file system loses the lock. So each holder also writes its name here with its first
/// commit, and each of its commits checks that the name is unchanged.
struct LeaseRecord: Sendable, Hashable {
    /// The number of times the lease has changed hands.
    var epoch: Int64
    /// The name that the last holder gave itself.
    var holder: String

    static let schema = TableSchema("sluice_lease", columns: [.init("epoch", .integer), .init("holder", .string)])
    private static let id: RecordID = "lease"

    init(epoch: Int64 = 0, holder: String = "") {
        self.epoch = epoch
        self.holder = holder
    }

    /// Reads the record from the store.
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
