internal import Foundation
public import SluiceCore
internal import SluiceSQLite

/// A kind of store that simulated devices keep their data in.
public struct SimulatedStores: Sendable {
    /// Its name, in reports.
    public let name: String
    /// Whether its calls do their work on threads of their own, as those of `SQLiteStore` do.
    let usesThreads: Bool
    /// Whether a process that begins opens its device's store anew, and closes it before.
    let isReopened: Bool
    /// Makes what a device keeps its data on: it opens the store.
    let make: @Sendable () async throws -> @Sendable () throws -> any LocalStore

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
    /// Stores of SQLite, each in a file of its own in the folder for temporary ones: each process opens it anew.
    public static let file = files("file") { nil }
    /// Encrypted stores of SQLite, likewise.
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

    /// What Sluice tests itself with: in memory, and one in twenty in files of SQLite.
    public static let mixed: [SimulatedStores] = Array(repeating: .memory, count: 19) + [.file]
    /// The kinds that are there, to be chosen by their names.
    public static let all: [SimulatedStores] = [.memory, .sqlite, .file, .encrypted]
}

/// A folder that is removed with the value.
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
