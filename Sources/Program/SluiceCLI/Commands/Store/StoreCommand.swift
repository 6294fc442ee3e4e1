internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluiceDaemon

/// The commands about the local store's file.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Look after the local store's file.",
        subcommands: [
            StoreInfoCommand.self, StoreCheckCommand.self, StoreVacuumCommand.self, StoreEncryptCommand.self,
            StoreDecryptCommand.self, StoreRekeyCommand.self, StoreMakeKeyCommand.self, StoreExportCommand.self,
            StoreImportCommand.self, StoreAdoptCommand.self, StoreRecoverCommand.self, StoreBreakLeaseCommand.self,
        ])
}

struct StoreRecoverCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Check the store; set a damaged one aside and rescue its queue into a new one.",
        discussion: """
            The damaged file is renamed, never deleted. Changes that wait are rescued as far as they can be read; the \
            tables of the new store are empty until the next pull. A sound store is left as it is. Ends with 5 if a \
            change could not be rescued whole.
            """)

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection)
        let path = try settings.requireStore()
        let (store, recovery) = try await SQLiteStore.openOrRecover(
            path: path, encryption: try settings.storeKey?.encryption(), options: settings.storeOptions)
        try await store.close()
        guard let recovery else { return Outcome(json: ["damage": .null], text: ["the store is sound"]) }
        var outcome = Outcome(
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
        if !recovery.isQueueWhole {
            outcome.add(
                CommandFailure(
                    .attention, "storeCorrupt",
                    "changes may be lost: part of the queue could not be read from the damaged store"))
        }
        for operation in recovery.operations where operation.state == .parked {
            outcome.add(CommandFailure(operation, status: .attention))
        }
        return outcome
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

/// The options for a store's new key.
struct NewKeyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The new key: a file of 32 bytes or 64 digits.", valueName: "file"))
    var newKeyFile: String?

    @Option(help: ArgumentHelp("A file with the new passphrase.", valueName: "file"))
    var newPassphraseFile: String?

    func encryption() throws -> StoreEncryption {
        guard let source = try StoreKeySource(keyFile: newKeyFile, passphraseFile: newPassphraseFile) else {
            throw CommandFailure.usage("give --new-key-file or --new-passphrase-file")
        }
        return try source.encryption()
    }
}

/// Rewrites a store with another key, with its first key or without one.
private func convert(
    _ connection: ConnectionOptions, hasKey: Bool, to target: StoreEncryption?, _ done: String
) async throws -> Outcome {
    let settings = try ClientSettings(connection)
    let path = try settings.requireStore()
    if hasKey, settings.storeKey == nil {
        throw CommandFailure.usage("give the store's key: --key-file, --passphrase-file or the environment")
    }
    try await SQLiteStore.convert(
        path: path, from: hasKey ? try settings.storeKey?.encryption() : nil, to: target,
        options: settings.storeOptions)
    return Outcome(json: ["store": JSON(path), "done": JSON(done)], text: ["\(Plain.line(path)) is \(done)"])
}

struct StoreEncryptCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt", abstract: "Encrypt a plain store.",
        discussion: """
            It is written anew beside itself and compared before it takes the name, so that one whole store stands there \
            at every moment. The old file is then overwritten and removed. Nobody may have the store open.
            """)

    @OptionGroup(title: "New key") var new: NewKeyOptions
    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await convert(connection, hasKey: false, to: try new.encryption(), "encrypted")
    }
}

struct StoreDecryptCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt", abstract: "Take the encryption of a store away.",
        discussion: "As encrypt does it, the other way round.")

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await convert(connection, hasKey: true, to: nil, "no longer encrypted")
    }
}

struct StoreRekeyCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey", abstract: "Give an encrypted store another key.",
        discussion: "As encrypt does it, from the key it has to the new one.")

    @OptionGroup(title: "New key") var new: NewKeyOptions
    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await convert(connection, hasKey: true, to: try new.encryption(), "encrypted with the new key")
    }
}

struct StoreMakeKeyCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "make-key", abstract: "Write a new random key to a new file that only its owner may read.")

    @Argument(help: "The file to make.")
    var file: String

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    func validate() throws {
        if file == "-" {
            throw ValidationError("a key is written to a file only: give its name (./- for one of that name)")
        }
    }

    func outcome() async throws -> Outcome {
        try StoreKey.random().write(toFile: file)
        return Outcome(
            json: ["key": JSON(file)], text: ["a new key is in \(Plain.line(file)); without it nobody opens the store"])
    }
}
