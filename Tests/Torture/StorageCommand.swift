import ArgumentParser
import Foundation
import SluiceTesting

/// The full pass of storage faults.
struct StorageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storage", abstract: "Has every call to the file system fail in every way.")

    @Option(help: "Every how many calls one is tried.") var stride = 1
    @Option(help: "By which unsynced writes are torn.") var seed: UInt64 = 0
    @Option(help: "How often each power cut is tried that tears writes.") var tears = 3
    @Option(help: "Only this mode.") var mode: String?

    func run() async throws {
        let modes = StorageFaultMode.allCases.filter { mode == nil || $0.rawValue == mode }
        let campaign = StorageFaultCampaign(modes: modes, stride: stride, seed: seed, tears: tears)
        let report = try await campaign.run { name, report in
            print("\(name): \(report.trials) trials, \(report.fired) faults, \(report.violations.count) violations")
            for violation in report.violations { print("  \(violation)") }
            fflush(nil)
        }
        print(
            "\(Date.now.formatted(.iso8601)) storage: \(report.trials) trials, \(report.fired) faults, "
                + "\(report.violations.count) violations; "
                + "torture storage --stride \(stride) --seed \(seed) --tears \(tears)")
        if !report.violations.isEmpty { throw ExitCode.failure }
    }
}
