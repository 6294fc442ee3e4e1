internal import Foundation
internal import Sluice

/// Store and server, put together from flags, configuration file and environment, in this order.
struct ClientSettings {
    var endpoint: String?
    var store: String?
    var dialect: Dialect
    var conflicts: ConflictPolicy
    /// How many changes go in one request; nil for as many as the server says that it takes.
    var batch: Int?
    /// How many requests are under way at once.
    var concurrency: Int
    var durability: String?
    var token: FileToken.Source?
    var tokenScheme: TokenScheme
    /// The name of the user that is given; nil where the credential has to tell.
    var user: String?
    var applicationKey: FileToken.Source?
    var storeKey: StoreKeySource?
    var tables: [TableSchema]
    var localOnly: LocalOnly
    var migrations: [StoreMigration]
    /// The plugins of the deployment; nil where there are none.
    var plugins: PluginSettings?

    init(
        _ options: ConnectionOptions, push: PushOptions? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        let file = try options.config.map { try SyncConfiguration(path: $0) } ?? SyncConfiguration()
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        endpoint = options.endpoint ?? file.endpoint ?? variable("SLUICE_ENDPOINT")
        store = options.store ?? file.store ?? variable("SLUICE_STORE")
        let name = options.dialect ?? file.dialect ?? Dialect.azureV2.name
        guard let dialect = Dialect.known.first(where: { $0.name == name }) else {
            throw CommandFailure.usage(
                "no dialect \(name); known are \(Dialect.known.map(\.name).joined(separator: ", "))")
        }
        self.dialect = ODataVersion(rawValue: name).map { .odata($0, file.odata) } ?? dialect
        let policy = push?.conflicts
        guard let conflicts = policy.map(ConflictPolicy.init) ?? file.conflicts ?? .hold else {
            throw CommandFailure.usage("--conflicts cannot be \(policy ?? ""); use hold, server-wins or client-wins")
        }
        self.conflicts = conflicts
        batch = try (push?.batch ?? file.batch).map { try Self.count($0, among: 1...100, "--batch") }
        concurrency = try Self.count(push?.concurrency ?? file.concurrency ?? 1, among: 1...64, "--concurrency")
        durability = file.durability
        token =
            (options.tokenFile ?? file.tokenFile).map { .file($0) } ?? variable("SLUICE_TOKEN").map { .text($0) }
        tokenScheme = file.tokenScheme == "bearer" ? .bearer : .zumo
        user = options.user ?? file.user ?? variable("SLUICE_USER")
        applicationKey =
            (options.applicationKeyFile ?? file.applicationKeyFile).map { .file($0) }
            ?? variable("SLUICE_APPLICATION_KEY").map { .text($0) }
        storeKey =
            try StoreKeySource(keyFile: options.key.keyFile, passphraseFile: options.key.passphraseFile)
            ?? StoreKeySource(keyFile: file.keyFile, passphraseFile: file.passphraseFile)
            ?? variable("SLUICE_STORE_KEY").map { .key($0) }
            ?? variable("SLUICE_STORE_PASSPHRASE").map { .passphrase($0) }
        (tables, localOnly, migrations) = (file.tables, file.localOnly, file.migrations)
        plugins = (options.plugins ?? file.plugins).map {
            PluginSettings(policy: $0, secrets: options.secrets ?? file.secrets)
        }
    }

    private static func count(_ number: Int, among allowed: ClosedRange<Int>, _ name: String) throws -> Int {
        guard allowed.contains(number) else {
            throw CommandFailure.usage("\(name) is \(allowed.lowerBound) to \(allowed.upperBound), not \(number)")
        }
        return number
    }

    /// The store's path.
    ///
    /// - Throws: that there is none.
    func requireStore() throws -> String {
        guard let store else { throw CommandFailure.usage("no store: give --store, --config or SLUICE_STORE") }
        return store
    }

    /// Whose session it is; nil where nothing tells.
    ///
    /// - Parameter known: the users that the store knows.
    func sessionUser(among known: Set<String>) async -> String? {
        if let user { return user }
        // What is wrong with a file is told where it is needed.
        guard let source = token ?? applicationKey, let credential = try? await FileToken(source: source).token() else {
            return nil
        }
        return (token != nil ? SessionUser.named(by: credential) : nil)
            ?? SessionUser.fingerprint(of: credential, among: known)
    }

    var storeOptions: SQLiteStore.Options { .init(durability: durability == "normal" ? .normal : .full) }

    /// The server's address, and how it is talked to.
    ///
    /// - Throws: what is wrong with the endpoint or the token's file, before anything is sent.
    func connection() async throws -> (endpoint: Endpoint, options: ClientOptions) {
        guard let endpoint else {
            throw CommandFailure.usage("no server: give --endpoint, --config or SLUICE_ENDPOINT")
        }
        if let token { _ = try await FileToken(source: token).token() }
        let key = try await applicationKey.map { FileToken(source: $0) }?.token()
        let options = ClientOptions(
            tokenProvider: token.map { FileToken(source: $0) }, tokenScheme: tokenScheme,
            // A person waits at the other end: two quick repeats bridge a restart, the queue bridges the rest.
            retry: RetryPolicy(attempts: 3, firstPause: .milliseconds(200), maximumPause: .seconds(5)),
            applicationKey: key)
        return (try Endpoint(endpoint), options)
    }
}
