internal import SluiceCore
package import SluiceSQLite
internal import SluiceTesting

/// One trial: a device edits, pushes and pulls on a real store, whose file system fails once in one way; then the
/// store is opened on the machine's own, and must hold what it promises.
///
/// ```swift
/// let outcome = try await StorageFaultTrial(mode: .powerTearing, at: 12, seed: 3).run()
/// print(outcome.violations)
/// ```
package struct StorageFaultTrial: Sendable, Hashable, CustomStringConvertible {
    /// How the storage fails.
    package var mode: StorageFaultMode
    /// The durability that the store was asked for.
    package var durability: SQLiteStore.Options.Durability
    /// At which call, from 1.
    package var at: Int
    /// Which parts of unsynced writes a power cut leaves.
    package var seed: UInt64

    /// Whether the store's file is made during the trial, and not before it.
    package var isNew: Bool
    /// Whether the store is encrypted.
    package var isEncrypted: Bool

    /// What came of a trial.
    package struct Outcome: Sendable, Hashable {
        /// Whether the fault was met. A trial without is one after the last call.
        package var hasFired: Bool
        /// What did not hold; empty if all is well.
        package var violations: [String]
    }

    /// A trial.
    package init(
        mode: StorageFaultMode, durability: SQLiteStore.Options.Durability = .full, at: Int, seed: UInt64 = 0,
        isNew: Bool = false, isEncrypted: Bool = false
    ) {
        self.mode = mode
        self.durability = durability
        self.at = at
        self.seed = seed
        self.isNew = isNew
        self.isEncrypted = isEncrypted
    }

    /// The trial as one can ask for it again.
    package var description: String {
        "\(mode.rawValue) \(durability)\(isNew ? " new" : "")\(isEncrypted ? " encrypted" : "") at \(at), seed \(seed)"
    }

    /// Runs the trial in a folder of its own, which is removed.
    ///
    /// - Throws: what goes wrong with the trial itself.
    package func run() async throws -> Outcome {
        let folder = try TrialFolder()
        let path = folder.file("store.db")
        let server = StorageServer()
        let encryption = isEncrypted ? StoreEncryption.key(try StoreKey(repeatElement(0x5C, count: 32))) : nil
        if !isNew { try await prepare(path, encryption, StorageServer()) }
        let faults = try StorageFaults(forEncrypted: isEncrypted)
        let options = faults.options(.init(durability: durability, busyTimeout: .zero, readers: 1))
        faults.arm(mode.fault, at: at, repeats: mode.repeats)
        let mayLoseLast = mode.mayLoseLast(durability)
        let scenario = StorageScenario(
            path: path, encryption: encryption, options: options, server: server, isNew: isNew,
            mayLoseLast: mayLoseLast)
        await scenario.run()
        let hasFired = faults.fired > 0
        var found = path
        if let unsynced = mode.unsynced, hasFired {
            found = folder.file("found.db")
            try faults.saveSurvivors(of: path, to: found, unsynced, seed: seed)
        }
        let verdict = StorageVerdict(
            path: found, encryption: encryption, server: server, ledger: scenario.ledger,
            mayLoseLast: hasFired && mayLoseLast)
        return Outcome(hasFired: hasFired, violations: await verdict.violations())
    }

    /// A store that has pulled the server's rows once.
    private func prepare(_ path: String, _ encryption: StoreEncryption?, _ server: StorageServer) async throws {
        let store = try SQLiteStore(
            path: path, encryption: encryption, options: .init(durability: .normal, readers: 1))
        let context = try await StorageScenario.context(store, server, nil)
        _ = try await context.table("todos").pull(named: "all")
        try await store.close()
    }
}
