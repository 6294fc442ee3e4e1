internal import Foundation
public import SluiceCore
internal import SluiceSQLite

/// A kind of store for simulated devices.
public struct SimulatedStores: Sendable {
    /// The name, in reports.
    public let name: String
    /// Whether its calls run on threads of their own, as those of `SQLiteStore` do.
    let usesThreads: Bool
    /// Whether each new process closes its device's store and opens it again.
    let isReopened: Bool
    /// Creates the storage of a device, and returns a function that opens its store.
    let make: @Sendable () async throws -> @Sendable () throws -> any LocalStore

    /// Creates a kind of store.
    ///
    /// - Parameters:
    ///   - name: the name, in reports.
    ///   - usesThreads: whether its calls run on threads of their own. The simulator then waits for each call, so that
    ///     the threads' speed changes nothing.
    ///   - make: makes an empty store, which exists as long as its device, across the ends of processes.
    public init(
        _ name: String, usesThreads: Bool = false, make: @escaping @Sendable () async throws -> any LocalStore
    ) {
        self.init(name, usesThreads: usesThreads, isReopened: false) {
            let store = try await make()
            return { store }
        }
    }

    private init(
        _ name: String, usesThreads: Bool, isReopened: Bool,
        making make: @escaping @Sendable () async throws -> @Sendable () throws -> any LocalStore
    ) {
        self.name = name
        self.usesThreads = usesThreads
        self.isReopened = isReopened
        self.make = make
    }

    /// Stores in memory.
    public static let memory = SimulatedStores("memory") { MemoryStore() }
    /// Stores of SQLite, in memory.
    public static let sqlite = SimulatedStores("sqlite", usesThreads: true) { try SQLiteStore(path: ":memory:") }
    /// Stores of SQLite, each in a file of its own in the temporary folder; each process reopens it.
    public static let file = files("file") { nil }
    /// Encrypted stores of SQLite, each in such a file.
    public static let encrypted = files("encrypted") {
        .key(try StoreKey(repeatElement(0x5C, count: StoreKey.byteCount)))
    }

    private static func files(
        _ name: String, encryption: @escaping @Sendable () throws -> StoreEncryption?
    ) -> SimulatedStores {
        SimulatedStores(name, usesThreads: true, isReopened: true) {
            let folder = try TrialFolder()
            return {
                try SQLiteStore(
                    path: folder.file("store.db"), encryption: encryption(),
                    options: .init(durability: .normal, readers: 1))
            }
        }
    }

    /// The kinds of Sluice's own tests: in memory, and one in twenty in files of SQLite.
    public static let mixed: [SimulatedStores] = Array(repeating: .memory, count: 19) + [.file]
    /// The kinds that can be chosen by their names.
    public static let all: [SimulatedStores] = [.memory, .sqlite, .file, .encrypted]
}

/// A folder that is removed when the value is deallocated.
package final class TrialFolder: Sendable {
    package let path: String

    package init() throws {
        let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        path = base.appendingPathComponent("sluice-trial-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func file(_ name: String) -> String { path + "/" + name }
}
