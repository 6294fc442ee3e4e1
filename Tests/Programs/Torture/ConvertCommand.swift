import ArgumentParser
import Foundation
import Sluice

/// Gives a store another key, or takes its key away; it is ended in the middle of that.
struct ConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "convert", shouldDisplay: false)

    @Option var store: String
    @Option(help: "The key that it has.") var from: String?
    @Option(help: "The key that it gets.") var to: String?
    @Option(help: "Stand still at this commit point.") var stopAt: String?
    @Option(help: "At which of its occurrences.") var occurrence = 1

    func run() async throws {
        alarm(60)
        try await SQLiteStore.convert(
            path: store, from: StoreSecret(keyFile: from).encryption, to: StoreSecret(keyFile: to).encryption,
            environment: StopPoint(stopAt, occurrence).environment)
    }
}
