internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluiceDaemon

/// The options for store and server, which all client commands share.
struct ConnectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The server's address. Else the environment's SLUICE_ENDPOINT.", valueName: "url"))
    var endpoint: String?

    @Option(help: ArgumentHelp("The local store's file. Else the environment's SLUICE_STORE.", valueName: "file"))
    var store: String?

    @Option(
        help: ArgumentHelp(
            "The server's wire: azure-v1, azure-v2 (the default), azure-v3, datasync, odata-v2 or odata-v4.",
            valueName: "name"))
    var dialect: String?

    @Option(help: ArgumentHelp("A YAML file with all of these, and tables. Flags win over it.", valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "A file with the token for the server. Else the environment's SLUICE_TOKEN.", valueName: "file"))
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "Whose data and changes these are, by any name. Else SLUICE_USER, else what the token says of its owner.",
            valueName: "name"))
    var user: String?

    @Option(
        help: ArgumentHelp(
            "A file with the application's key, for azure-v1. Else the environment's SLUICE_APPLICATION_KEY.",
            valueName: "file"))
    var applicationKeyFile: String?

    @OptionGroup var key: StoreKeyOptions

    @Option(help: ArgumentHelp("The policy of the deployment's plugins: they take part.", valueName: "file"))
    var plugins: String?

    @Option(help: ArgumentHelp("A folder with the secrets of plugins: a file for each.", valueName: "folder"))
    var secrets: String?

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    /// The given flags that say more than the server, the store and its key.
    var ownFlags: [String] {
        [
            ("--dialect", dialect), ("--token-file", tokenFile), ("--user", user),
            ("--application-key-file", applicationKeyFile), ("--plugins", plugins), ("--secrets", secrets),
        ].compactMap { $1 == nil ? nil : $0 }
    }
}

/// The options for opening an encrypted store.
struct StoreKeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An encrypted store's key: a file of 32 bytes or 64 digits. Else the environment's SLUICE_STORE_KEY.",
            valueName: "file"))
    var keyFile: String?

    @Option(
        help: ArgumentHelp(
            "An encrypted store's passphrase. Else the environment's SLUICE_STORE_PASSPHRASE.", valueName: "file"))
    var passphraseFile: String?
}

/// The options of a push, for the commands that push.
struct PushOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What is done with a conflict: hold (the default; nothing is lost), server-wins or client-wins.",
            valueName: "policy"))
    var conflicts: String?

    @Option(
        help: ArgumentHelp(
            "How many changes go in one request, 1 to 100; by default as many as the server says it takes.",
            valueName: "count"))
    var batch: Int?

    @Option(help: ArgumentHelp("How many requests are under way at once, 1 to 64.", valueName: "count"))
    var concurrency: Int?

    /// The given flags.
    var flags: [String] {
        [
            ("--conflicts", conflicts), ("--batch", batch.map { "\($0)" }),
            ("--concurrency", concurrency.map { "\($0)" }),
        ].compactMap { $1 == nil ? nil : $0 }
    }
}

extension ClientSettings {
    /// Reads store and server from a command's flags, the environment and the configuration file, in this order.
    ///
    /// - Throws: the reason why a value is invalid, with its flag, variable or place.
    init(
        _ options: ConnectionOptions, push: PushOptions? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        let file = try options.config.map { try SettingsFile(path: $0) } ?? SettingsFile()
        var flags: [String: [String]] = [:]
        for (key, value) in [
            ("endpoint", options.endpoint), ("store", options.store), ("dialect", options.dialect),
            ("token-file", options.tokenFile), ("user", options.user),
            ("application-key-file", options.applicationKeyFile), ("key-file", options.key.keyFile),
            ("passphrase-file", options.key.passphraseFile), ("plugins", options.plugins),
            ("secrets", options.secrets), ("conflicts", push?.conflicts), ("batch", push?.batch.map { "\($0)" }),
            ("concurrency", push?.concurrency.map { "\($0)" }),
        ] {
            if let value { flags[key] = [value] }
        }
        // If the file has several endpoints, --endpoint chooses one by its name.
        var name = file.endpoints.count == 1 ? file.endpoints[0] : ""
        if let given = options.endpoint, file.endpoints.contains(given) {
            (name, flags["endpoint"]) = (given, nil)
        } else if file.endpoints.count > 1 {
            throw CommandFailure.usage(
                "the configuration has several endpoints: choose one with --endpoint "
                    + file.endpoints.joined(separator: ", or "))
        }
        try self.init(
            file, Settings(file, flags: flags, environment: environment), endpoint: name, environment: environment)
    }
}
