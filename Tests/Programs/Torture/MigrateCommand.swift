import ArgumentParser
import Foundation
import Sluice

/// Gives a store's records another shape and their old one again; it is ended in the middle of that.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "migrate", shouldDisplay: false)

    @Option var store: String
    @Option var keyFile: String?
    @Option(help: "What the migrations are named after.") var name: String
    @Option(help: "Stand still at this commit point.") var stopAt: String?
    @Option(help: "At which of its occurrences.") var occurrence = 1

    func run() async throws {
        alarm(60)
        let store = try SQLiteStore(
            path: store, encryption: StoreSecret(keyFile: keyFile).encryption, options: .init(durability: .normal))
        let migrations = [
            StoreMigration(
                "\(name) there",
                [.renameProperty("a", to: "x", in: "todos"), .renameTable("todos", to: "tasks")]),
            StoreMigration(
                "\(name) back",
                [.renameTable("tasks", to: "todos"), .renameProperty("x", to: "a", in: "todos")]),
        ]
        _ = try await SyncContext(
            store: store, migrations: migrations,
            options: SyncOptions(environment: StopPoint(stopAt, occurrence).environment))
        try await store.close()
    }
}
