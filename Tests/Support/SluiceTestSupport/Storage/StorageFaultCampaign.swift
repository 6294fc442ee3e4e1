package import SluiceSQLite

/// Trials of storage faults, one after the other: of each mode and durability, at the first call, the second, and so
/// on, until a trial ends without meeting its fault. Each once with a store that is there, once with one that is made.
package struct StorageFaultCampaign: Sendable {
    /// The modes.
    package var modes: [StorageFaultMode]
    /// The durabilities. Only power cuts and syncs are tried with others than `full`: the rest does not depend on it.
    package var durabilities: [SQLiteStore.Options.Durability]
    /// Every how many calls one is tried; the first is the remainder of `seed`.
    package var stride: Int
    /// By which seed unsynced writes are torn; with the call's number.
    package var seed: UInt64
    /// How often each power cut is tried that tears writes.
    package var tears: Int
    /// Whether the stores are encrypted.
    package var isEncrypted: Bool

    /// What a campaign came to.
    package struct Report: Sendable, Hashable {
        /// How many trials were run.
        package var trials = 0
        /// How many met their fault.
        package var fired = 0
        /// The trials that showed something, each with what.
        package var violations: [String] = []
    }

    /// A campaign; by default all there is.
    package init(
        modes: [StorageFaultMode] = StorageFaultMode.allCases,
        durabilities: [SQLiteStore.Options.Durability] = [.full, .normal], stride: Int = 1, seed: UInt64 = 0,
        tears: Int = 3, isEncrypted: Bool = false
    ) {
        self.modes = modes
        self.durabilities = durabilities
        self.stride = max(1, stride)
        self.seed = seed
        self.tears = max(1, tears)
        self.isEncrypted = isEncrypted
    }

    /// Runs it.
    ///
    /// - Parameter progress: told what came of each mode.
    package func run(progress: (String, Report) -> Void = { _, _ in }) async throws -> Report {
        var total = Report()
        for mode in modes {
            for durability in durabilities where durability == .full || mode.dependsOnDurability {
                for isNew in [false, true] {
                    let report = try await run(mode, durability, isNew)
                    progress("\(mode.rawValue) \(durability)\(isNew ? " new" : "")", report)
                    total.trials += report.trials
                    total.fired += report.fired
                    total.violations += report.violations
                }
            }
        }
        return total
    }

    private func run(
        _ mode: StorageFaultMode, _ durability: SQLiteStore.Options.Durability, _ isNew: Bool
    ) async throws -> Report {
        var report = Report()
        var call = 1 + Int(seed % UInt64(stride))
        while true {
            var hasFired = false
            for tear in 0..<(mode == .powerTearing ? tears : 1) {
                let trial = StorageFaultTrial(
                    mode: mode, durability: durability, at: call, seed: seed &* 1_000_003 &+ UInt64(tear),
                    isNew: isNew, isEncrypted: isEncrypted)
                let outcome = try await trial.run()
                report.trials += 1
                report.fired += outcome.hasFired ? 1 : 0
                hasFired = hasFired || outcome.hasFired
                report.violations += outcome.violations.map { "\(trial): \($0)" }
            }
            if !hasFired { return report }
            call += stride
        }
    }
}

extension StorageFaultMode {
    fileprivate var dependsOnDurability: Bool { unsynced != nil || fault == .sync }
}
