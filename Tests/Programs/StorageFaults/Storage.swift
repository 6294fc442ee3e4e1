internal import ArgumentParser
internal import Foundation
internal import SluiceTestSupport

/// The full pass of storage faults, or a part of it: every call to the file system fails in every way.
@main
struct Storage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storage", abstract: "Has every call to the file system fail in every way.")

    @Option(help: "Every how many calls one is tried.") var stride = 1
    @Option(help: "By which unsynced writes are torn.") var seed: UInt64 = 0
    @Option(help: "How often each power cut is tried that tears writes.") var tears = 3
    @Option(help: "Only this mode; may be given more than once.") var mode: [String] = []
    @Flag(help: "Have the stores encrypted.") var encrypted = false
    @Flag(help: "List the modes and do nothing.") var modes = false

    func run() async throws {
        if modes { return print(StorageFaultMode.allCases.map(\.rawValue).joined(separator: "\n")) }
        let chosen = StorageFaultMode.allCases.filter { mode.isEmpty || mode.contains($0.rawValue) }
        let campaign = StorageFaultCampaign(
            modes: chosen, stride: stride, seed: seed, tears: tears, isEncrypted: encrypted)
        let report = try await campaign.run { name, report in
            for violation in report.violations { print("\(name): \(violation)") }
            fflush(nil)
        }
        print(
            "\(chosen.map(\.rawValue).joined(separator: ",")): \(report.trials) trials, \(report.fired) faults, "
                + "\(report.violations.count) violations")
        if !report.violations.isEmpty { throw ExitCode.failure }
    }
}
