internal import Foundation
internal import Logging
package import Sluice
internal import SluiceConfiguration

/// One endpoint of the configuration, with the values in their types: its server, its store and what is synced.
package struct ClientSettings: Sendable {
    /// The name under which whole tables are pulled and reconciled.
    package static let queryName = "sync"

    /// The endpoint's name; empty where the configuration has a single one.
    package let name: String
    package var endpoint: String?
    package var store: String?
    package var dialect: Dialect
    package var conflicts: ConflictPolicy
    /// How many changes go in one request; nil for as many as the server says that it takes.
    package var batch: Int?
    /// How many requests are under way at once.
    package var concurrency: Int
    package var durability: SQLiteStore.Options.Durability
    package var token: TokenSource?
    package var tokenScheme: TokenScheme
    /// The name of the user that is given; nil where the credential has to tell.
    package var user: String?
    package var applicationKey: FileToken.Source?
    package var tls: TLSFiles
    package var storeKey: StoreKeySource?
    package var tables: [TableSchema]
    package var localOnly: LocalOnly
    package var migrations: [StoreMigration]
    /// What is pulled by itself: the named queries, and the whole of each table that none of them reads.
    package var pulls: [SyncSchedule.Pull]
    /// The plugins of the deployment; nil where there are none.
    package var plugins: PluginSettings?
    package var retry: RetryPolicy
    package var limits: Limits
    package var attempts: Int
    package var pageSize: Int

    /// The values of an endpoint.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for values that contradict each other, and for tables and
    ///   queries that cannot be, with the place.
    package init(
        _ file: SettingsFile, _ settings: Settings, endpoint name: String = "",
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        self.name = name
        let values = SettingValues(settings, endpoint: name, environment: environment)
        endpoint = values.text("endpoint")
        store = try values.path("store")
        conflicts = values.text("conflicts").flatMap(ConflictPolicy.init) ?? .hold
        (batch, concurrency) = (values.number("batch"), values.integer("concurrency"))
        durability = values.text("durability") == "normal" ? .normal : .full
        token = try TokenSource(values)
        tokenScheme = values.text("token-scheme") == "bearer" || values.text("oauth.token-url") != nil ? .bearer : .zumo
        user = values.text("user")
        applicationKey =
            try values.path("application-key-file").map { .file($0) }
            ?? values.text("application-key").map { .text($0) }
        tls = try TLSFiles(values)
        storeKey =
            try StoreKeySource(keyFile: values.path("key-file"), passphraseFile: values.path("passphrase-file"))
            ?? values.text("store-key").map { .key($0) } ?? values.text("store-passphrase").map { .passphrase($0) }
        plugins = try values.path("plugins").map {
            PluginSettings(policy: $0, secrets: try values.path("secrets"))
        }
        retry = RetryPolicy(
            attempts: values.integer("retry.attempts"), firstPause: values.duration("retry.first-pause"),
            maximumPause: values.duration("retry.longest-pause"))
        limits = Limits()
        limits.deadline = values.duration("limits.request-time")
        limits.responseBytes = values.integer("limits.answer-bytes")
        (attempts, pageSize) = (values.integer("limits.attempts"), values.integer("limits.page-size"))
        let shapes = TablesReader(file, endpoint: name)
        (tables, localOnly) = try shapes.tables()
        let wire = values.text("dialect")
        dialect =
            try wire.flatMap(ODataVersion.init).map { .odata($0, try shapes.odata()) }
            ?? Dialect.known.first { $0.name == wire } ?? .azureV2
        migrations = try shapes.migrations()
        pulls = try shapes.pulls(tables, localOnly)
    }

    /// The store's path.
    ///
    /// - Throws: that there is none.
    package func requireStore() throws -> String {
        guard let store else {
            throw SluiceError(.invalidArgument, "no store: give --store, --config or SLUICE_STORE\(ofEndpoint)")
        }
        guard store != ":memory:" else {
            throw SluiceError(
                .invalidArgument,
                "a store in memory is gone when the command ends: give a file (./:memory: for one of that name)")
        }
        return store
    }

    /// Whose session it is; nil where nothing tells.
    ///
    /// - Parameter known: the users that the store knows.
    package func sessionUser(among known: [String]) async -> String? {
        if let user { return user }
        // What is wrong with a file is told where it is needed.
        let credential =
            if let token { try? await token.identity() } else {
                try? await applicationKey.map({ FileToken(source: $0) })?.token()
            }
        guard let credential else { return nil }
        return (token != nil ? SessionUser.named(by: credential) : nil)
            ?? SessionUser.fingerprint(of: credential, among: known)
    }

    package var storeOptions: SQLiteStore.Options { .init(durability: durability) }

    /// The server's address, and how it is talked to.
    ///
    /// - Throws: what is wrong with the endpoint or the token's file, before anything is sent.
    package func connection() async throws -> (endpoint: Endpoint, options: ClientOptions) {
        guard let endpoint else {
            throw SluiceError(
                .invalidArgument, "no server: give --endpoint, --config or SLUICE_ENDPOINT\(ofEndpoint)")
        }
        try await token?.check()
        let key = try await applicationKey.map { FileToken(source: $0) }?.token()
        let options = ClientOptions(
            tokenProvider: token?.provider(), tokenScheme: tokenScheme, retry: retry, limits: limits,
            applicationKey: key)
        return (try Endpoint(endpoint), options)
    }

    /// Sees that all that the settings name can be used, without a store: what opening a session would refuse.
    func check(_ logger: Logger) async throws {
        _ = try await connection()
        _ = try storeKey?.encryption()
        let transport = try tls.transport()
        var additions = ClientSession.Additions()
        additions.logger = logger
        additions.runsFixtures = true
        _ = try await plugins?.load(for: self, MemoryStore(), transport, additions)
    }

    private var ofEndpoint: String { name.isEmpty ? "" : " (endpoint \(name))" }
}
