internal import ArgumentParser
internal import Foundation
internal import SluiceCore
internal import SluiceSQLite
internal import SluiceTesting

struct ConformCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conform", abstract: "Try everything that a store has to do, with a new store on this machine.",
        discussion: """
            The kit by which stores are tested, run in a folder of the disk that a store is to be on, with the SQLite or \
            SQLCipher that is installed. Ends with 1 if a check fails. A store of your own runs the same kit in its tests.
            """)

    @Option(
        help: ArgumentHelp("The folder for the stores; by default the system's temporary folder.", valueName: "dir"))
    var folder: String?

    @Flag(help: "With encrypted stores.")
    var encrypted = false

    func run() async throws {
        let place = URL(fileURLWithPath: folder ?? FileManager.default.temporaryDirectory.path)
            .appendingPathComponent("sluice-conform-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: place) }
        let encryption = encrypted ? StoreEncryption.key(try StoreKey.random()) : nil
        var number = 0
        var failures: [String] = []
        func attempt(_ name: String, _ check: (@escaping @Sendable () throws -> SQLiteStore) async throws -> Void) async
        {
            number += 1
            let home = "\(place)/\(number)"
            do {
                try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
                try await check { try SQLiteStore(path: "\(home)/store.db", encryption: encryption) }
            } catch {
                failures.append("\(name): \(error)")
            }
            try? FileManager.default.removeItem(atPath: home)
        }
        for check in LocalStoreConformance.checks {
            await attempt("\(check)") { open in try await check.run(makeStore: open) }
        }
        for check in LocalStoreConformance.reopenChecks {
            await attempt("\(check)") { open in try await check.run(open: open) }
        }
        try say((failures + ["\(number) checks, \(failures.count) failed"]).joined(separator: "\n"))
        if !failures.isEmpty { throw ExitCode.failure }
    }
}
