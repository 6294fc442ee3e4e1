public import SluiceCore

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
}
