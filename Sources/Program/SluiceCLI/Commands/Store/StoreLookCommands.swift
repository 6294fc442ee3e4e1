internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluiceDaemon

/// A command about the store's file itself, without tables or a server.
protocol StoreFileCommand: OutcomeCommand {
    var connection: ConnectionOptions { get }
    func outcome(of store: SQLiteStore) async throws -> Outcome
}

extension StoreFileCommand {
    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection)
        let path = try settings.requireStore()
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure.usage("there is no store at \(Plain.line(path))")
        }
        let store = try SQLiteStore(
            path: path, encryption: try settings.storeKey?.encryption(), options: settings.storeOptions)
        do {
            let outcome = try await outcome(of: store)
            try await store.close()
            return outcome
        } catch {
            try? await store.close()
            throw error
        }
    }
}

struct StoreInfoCommand: StoreFileCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Say what the store's file is and holds.")

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome(of store: SQLiteStore) async throws -> Outcome {
        let info = try await store.info()
        let table = TextTable(
            head: ["table", "records", "columns", "indexes"],
            rows: info.tables.map { [Plain.line($0.name), "\($0.records)", "\($0.columns)", "\($0.indexes)"] })
        return Outcome(
            json: JSON(printing: info),
            text: [
                "\(Plain.line(info.path)): format \(info.format), \(info.isEncrypted ? "encrypted" : "not encrypted")",
                "\(info.library)",
                "\(Plain.count(info.size, "byte")), of which \(info.free) are free; the log has \(info.log)",
            ] + (info.isReadableByOthers ? ["others than its owner may read it: chmod 600 it"] : [])
                + table.lines(widest: StandardStream.output.isTerminal ? 48 : .max))
    }
}

struct StoreCheckCommand: StoreFileCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Read the whole file and look whether what is in it fits together.",
        discussion: "Ends with 6 if anything is wrong. What is damaged is mended by: sluice store recover.")

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome(of store: SQLiteStore) async throws -> Outcome {
        let problems = try await store.check()
        var outcome = Outcome(
            json: ["problems": JSON(printing: problems)],
            text: problems.isEmpty ? ["the store is sound"] : problems.map { Plain.line("\($0)") })
        if !problems.isEmpty {
            outcome.add(
                CommandFailure(.store, "storeCorrupt", "\(Plain.count(problems.count, "problem")) in the store"))
        }
        return outcome
    }
}

struct StoreVacuumCommand: StoreFileCommand {
    static let configuration = CommandConfiguration(
        commandName: "vacuum", abstract: "Write the file anew without what is free in it.")

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome(of store: SQLiteStore) async throws -> Outcome {
        let before = try await store.info().size
        try await store.vacuum()
        let after = try await store.info().size
        return Outcome(
            json: ["before": JSON(before), "after": JSON(after)],
            text: ["\(Plain.count(before, "byte")) became \(Plain.count(after))"])
    }
}
