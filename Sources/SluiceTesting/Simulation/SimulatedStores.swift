public import SluiceCore
internal import SluiceSQLite

/// A kind of store that simulated devices keep their data in.
public struct SimulatedStores: Sendable {
    /// Its name, in reports.
    public let name: String
    /// Whether its calls do their work on threads of their own, as those of `SQLiteStore` do.
    let usesThreads: Bool
    let make: @Sendable () async throws -> any LocalStore

    /// A kind of store.
    ///
    /// - Parameters:
    ///   - name: its name, in reports.
    ///   - usesThreads: whether its calls do their work on threads of their own. The simulator then waits for each
    ///     call, so that the threads' speed changes nothing.
    ///   - make: makes an empty store. It lives as long as its device, through the ends of processes.
    public init(
        _ name: String, usesThreads: Bool = false, make: @escaping @Sendable () async throws -> any LocalStore
    ) {
        self.name = name
        self.usesThreads = usesThreads
        self.make = make
    }

    /// Stores in memory.
    public static let memory = SimulatedStores("memory") { MemoryStore() }
    /// Stores of SQLite, in memory.
    public static let sqlite = SimulatedStores("sqlite", usesThreads: true) { try SQLiteStore(path: ":memory:") }
    /// Encrypted stores of SQLite, each in a file of its own in the folder for temporary ones.
    public static let encrypted = SimulatedStores("encrypted", usesThreads: true) {
        let folder = try TrialFolder()
        let key = try StoreKey(repeatElement(0x5C, count: StoreKey.byteCount))
        let store = try SQLiteStore(
            path: folder.file("store.db"), encryption: .key(key), options: .init(durability: .normal, readers: 1))
        return StoreInFolder(store: store, folder: folder)
    }
    /// What Sluice tests itself with: in memory, and one in twenty of SQLite.
    public static let mixed: [SimulatedStores] = Array(repeating: .memory, count: 19) + [.sqlite]
    /// The kinds that are there, to be chosen by their names.
    public static let all: [SimulatedStores] = [.memory, .sqlite, .encrypted]
}

/// A store whose folder goes with it.
private struct StoreInFolder: LocalStore {
    let store: SQLiteStore
    let folder: TrialFolder

    func define(_ tables: [TableSchema]) async throws { try await store.define(tables) }

    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) throws -> Result) async throws -> Result {
        try await store.read(body)
    }

    func write<Result: Sendable>(_ body: @Sendable (any StoreWriter) throws -> Result) async throws -> Result {
        try await store.write(body)
    }

    func close() async throws { try await store.close() }
    func takeLease() async throws -> StoreLease? { try await store.takeLease() }
    func breakLease() async throws { try await store.breakLease() }
}
