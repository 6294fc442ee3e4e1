internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluiceTesting

struct StoreConformCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "conform", abstract: "Try everything that a store has to do, with a new store on this machine.",
        discussion: """
            The kit by which stores are tested, run in a folder of the disk that a store is to be on, with the SQLite or \
            SQLCipher that is installed. Ends with 6 if a check fails. A store of your own runs the same kit in its tests.
            """)

    @Option(
        help: ArgumentHelp("Where to make the stores; by default in the system's temporary folder.", valueName: "dir"))
    var folder: String?

    @Flag(help: "With encrypted stores.")
    var encrypted = false

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    func outcome() async throws -> Outcome {
        let place = URL(fileURLWithPath: folder ?? FileManager.default.temporaryDirectory.path)
            .appendingPathComponent("sluice-conform-\(UUID().uuidString)").path
        let encryption = encrypted ? StoreEncryption.key(try StoreKey.random()) : nil
        var failures: [(check: String, reason: String)] = []
        let checks = LocalStoreConformance.checks.map { check in
            (
                "\(check)",
                { (open: @escaping @Sendable () throws -> SQLiteStore) in try await check.run(makeStore: open) }
            )
        }
        let reopenChecks = LocalStoreConformance.reopenChecks.map { check in
            ("\(check)", { (open: @escaping @Sendable () throws -> SQLiteStore) in try await check.run(open: open) })
        }
        let all = checks + reopenChecks
        let bar = ProgressBar("conform", total: all.count)
        for (index, (name, run)) in all.enumerated() {
            let path = "\(place)/\(index)/store.db"
            do {
                try FileManager.default.createDirectory(atPath: "\(place)/\(index)", withIntermediateDirectories: true)
                try await run { try SQLiteStore(path: path, encryption: encryption) }
            } catch {
                failures.append((name, "\(error)"))
            }
            try? FileManager.default.removeItem(atPath: "\(place)/\(index)")
            bar.update(index + 1)
        }
        bar.finish()
        try? FileManager.default.removeItem(atPath: place)
        var outcome = Outcome(
            json: [
                "checks": JSON(all.count),
                "failures": JSON(
                    failures.map { ["check": JSON($0.check), "reason": JSON($0.reason)] as JSON }),
            ],
            text: ["\(Plain.count(all.count, "check")), \(failures.count) failed"]
                + failures.map { Plain.line("\($0.check): \($0.reason)") })
        if let first = failures.first {
            outcome.add(CommandFailure(.store, "storeDoesNotConform", "\(first.check): \(first.reason)"))
        }
        return outcome
    }
}
