internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluiceDaemon

/// The commands about the file that holds the local store.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Look after the local store's file.",
        subcommands: [
            StoreInfoCommand.self, StoreCheckCommand.self, StoreVacuumCommand.self, StoreEncryptCommand.self,
            StoreDecryptCommand.self, StoreRekeyCommand.self, StoreMakeKeyCommand.self, StoreExportCommand.self,
            StoreImportCommand.self, StoreConformCommand.self, StoreRecoverCommand.self, StoreBreakLeaseCommand.self,
        ])
}

struct StoreRecoverCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Check the store; set a damaged one aside and rescue its queue into a new one.",
        discussion: """
            The damaged file is renamed, never deleted. Changes that wait are rescued as far as they can be read; the \
            tables of the new store are empty until the next pull. A sound store is left as it is.
            """)

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection)
        let path = try settings.requireStore()
        let (store, recovery) = try await SQLiteStore.openOrRecover(
            path: path, encryption: try settings.storeKey?.encryption(), options: settings.storeOptions)
        try await store.close()
        guard let recovery else { return Outcome(json: ["damage": .null], text: ["the store is sound"]) }
        return Outcome(
            json: [
                "damage": JSON(recovery.damage), "setAside": JSON(recovery.setAside),
                "rescued": JSON(recovery.operations.map(\.json)),
                "isQueueWhole": JSON(recovery.isQueueWhole),
            ],
            text: [
                "the store was damaged: \(Plain.line(recovery.damage))",
                "the damaged file is now \(Plain.line(recovery.setAside))",
                "\(Plain.count(recovery.operations.count, "change")) rescued"
                    + (recovery.isQueueWhole ? "" : "; part of the queue could not be read"),
                "the tables are empty until they are pulled",
            ])
    }
}

struct StoreBreakLeaseCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "break-lease", abstract: "Take the right to synchronise from a process that stands still.",
        discussion: "That process ends its run with an error when it goes on; nothing that it has stored is undone.")

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            try await session.context.breakLease()
            return Outcome(json: ["lease": "free"], text: ["the store is free to be synchronised"])
        }
    }
}
