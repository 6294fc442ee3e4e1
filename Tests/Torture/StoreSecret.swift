import ArgumentParser
import Foundation
import Sluice

/// What a store is encrypted with: nothing, or the key in a file.
struct StoreSecret: Hashable, Sendable {
    var keyFile: String?

    static let none = StoreSecret(keyFile: nil)

    var encryption: StoreEncryption? {
        get throws { try keyFile.map { .key(try StoreKey(file: $0)) } }
    }

    /// Whether it is what the store at `path` is encrypted with.
    func opens(_ path: String) async throws -> Bool {
        do {
            try await SQLiteStore(path: path, encryption: encryption).close()
            return true
        } catch let error as SluiceError
            where [.storeKeyRefused, .storeEncrypted, .storeNotEncrypted].contains(error.code)
        {
            return false
        }
    }
}

/// Gives a store another key, or takes its key away; it is ended in the middle of that.
struct ConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "convert", shouldDisplay: false)

    @Option var store: String
    @Option(help: "The key that it has.") var from: String?
    @Option(help: "The key that it gets.") var to: String?
    @Option(help: "Stand still at this commit point.") var stopAt: String?

    func run() async throws {
        alarm(60)
        try await SQLiteStore.convert(
            path: store, from: StoreSecret(keyFile: from).encryption, to: StoreSecret(keyFile: to).encryption,
            environment: StopPoint(stopAt, 1).environment)
    }
}
