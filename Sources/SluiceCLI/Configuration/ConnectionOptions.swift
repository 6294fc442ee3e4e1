internal import ArgumentParser

/// Where the store and the server are: the options that all client commands share.
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
}

/// What an encrypted store is opened with.
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

/// How a push goes about it, for the commands that push.
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
}
