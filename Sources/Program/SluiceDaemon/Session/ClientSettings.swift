internal import Foundation
internal import Logging
package import Sluice
internal import SluiceConfiguration
package import SluiceLua
internal import SluicePluginTools
internal import SluicePolicy
package import SluiceSignOn

/// One endpoint of the configuration with typed values: its server, its store and its synced queries.
package struct ClientSettings: Sendable {
    /// The name under which whole tables are pulled and reconciled.
    package static let queryName = "sync"

    /// The endpoint's name; empty where the configuration has a single one.
    package let name: String
    package var endpoint: String?
    package var store: String?
    package var dialect: Dialect
    package var conflicts: ConflictPolicy
    /// The number of operations in one request; nil for the server's own limit.
    package var batch: Int?
    /// The number of concurrent requests.
    package var concurrency: Int
    package var durability: SQLiteStore.Options.Durability
    package var token: TokenSource?
    /// The exchange of the source's tokens for the app's own; nil for none.
    let exchange: TokenExchange?
    /// The sign-in of a user on another device, and the place of its refresh token; nil if none is configured.
    package let signIn: (DeviceSignIn, StoredCredential)?
    package var tokenScheme: ClientOptions.TokenScheme
    /// The configured name of the user; nil if it follows from the credential.
    package var user: String?
    package var applicationKey: FileToken.Source?
    package var network: TransportSettings
    package var storeKey: StoreKeySource?
    package var tables: [TableSchema]
    package var localOnly: LocalOnly
    package var migrations: [StoreMigration]
    /// The queries of the schedule: the named ones, and one for each whole table that they do not read.
    package var pulls: [SyncSchedule.Pull]
    /// The plugins of the deployment; nil where there are none.
    package var plugins: PluginSettings?
    package var retry: RetryPolicy
    package var limits: SyncRequest.Limits
    package var attempts: Int
    package var pageSize: Int
    /// The warnings of names in the file that have changed, each with its place.
    let warnings: [String]

    /// The values of an endpoint.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for contradicting values and for invalid tables and queries,
    ///   with the place.
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
        exchange = try TokenExchange(values)
        signIn = try TokenSource.signIn(values)
        tokenScheme = TokenSource.scheme(values)
        user = values.text("user")
        applicationKey =
            try values.path("application-key-file").map { .file($0) }
            ?? values.text("application-key").map { .text($0) }
        network = try TransportSettings(values)
        storeKey =
            try StoreKeySource(keyFile: values.path("key-file"), passphraseFile: values.path("passphrase-file"))
            ?? values.text("store-key").map { .key($0) } ?? values.text("store-passphrase").map { .passphrase($0) }
        let (installed, fleet) = (try values.path("plugins"), try PolicySettings(values, store: store))
        plugins =
            installed == nil && fleet == nil
            ? nil : PluginSettings(policy: installed, secrets: try values.path("secrets"), fleet: fleet)
        retry = RetryPolicy(
            attempts: values.integer("retry.attempts"), firstPause: values.duration("retry.first-pause"),
            maximumPause: values.duration("retry.longest-pause"))
        limits = SyncRequest.Limits()
        limits.deadline = values.duration("limits.request-time")
        limits.responseBytes = values.integer("limits.answer-bytes")
        (attempts, pageSize) = (values.integer("limits.attempts"), values.integer("limits.page-size"))
        let shapes = TablesReader(file, endpoint: name)
        (tables, localOnly) = try shapes.tables()
        let wire = values.text("dialect")
        if let version = wire.flatMap(ODataVersion.init) {
            let odata = try shapes.odata()
            (dialect, warnings) = (.odata(version, odata.settings), odata.warnings)
        } else {
            dialect = Dialect.known.first { $0.name == wire } ?? .azureV2
            warnings = try shapes.hasOData() ? ["odata: has no effect with the dialect \(dialect.name)"] : []
        }
        migrations = try shapes.migrations()
        pulls = try shapes.pulls(tables, localOnly)
        // Every device would pull the rows of all others.
        if let table = fleet?.status?.table {
            pulls.removeAll { $0.query == TableQuery(table) && $0.name == Self.queryName }
        }
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

    /// Returns the session's user; nil if neither the settings nor a credential name one.
    ///
    /// - Parameters:
    ///   - known: the users that the store knows.
    ///   - usesNetwork: whether a server may be asked for a token. Without it the user of an OAuth client is not known.
    package func sessionUser(among known: [String], usesNetwork: Bool) async -> String? {
        if let user { return user }
        // An unreadable file is reported later, by the request that needs it.
        let credential =
            if let token { try? await token.identity(tokenScheme, usesNetwork: usesNetwork) } else {
                try? await applicationKey.map({ FileToken(source: $0) })?.token()
            }
        guard let credential else { return nil }
        return (token != nil ? SessionUser.named(by: credential) : nil)
            ?? SessionUser.fingerprint(of: credential, among: known)
    }

    package var storeOptions: SQLiteStore.Options { .init(durability: durability) }

    /// Returns the server's address and the client's options; the session adds the tokens of its user.
    ///
    /// - Throws: an error for an invalid endpoint or an unreadable token file, before anything is sent.
    package func connection() async throws -> (endpoint: Endpoint, options: ClientOptions) {
        guard let endpoint else {
            throw SluiceError(
                .invalidArgument, "no server: give --endpoint, --config or SLUICE_ENDPOINT\(ofEndpoint)")
        }
        try await token?.check()
        let key = try await applicationKey.map { FileToken(source: $0) }?.token()
        let options = ClientOptions(tokenScheme: tokenScheme, retry: retry, limits: limits, applicationKey: key)
        return (try Endpoint(endpoint), options)
    }

    /// Returns the parts of a client for requests without a store: its server, its options with the token, and the
    /// transport. The caller ends a running token program with ``stopToken()``.
    package func wire() async throws -> (endpoint: Endpoint, options: ClientOptions, transport: any Transport) {
        var (endpoint, options) = try await connection()
        options.tokenProvider = token.map { sent($0.provider()) }
        return (endpoint, options, try network.transport())
    }

    /// Returns the tokens to send: the source's, or those that the app exchanges for them.
    func sent(_ tokens: any TokenProvider) -> any TokenProvider { exchange?.tokens(for: tokens) ?? tokens }

    package func stopToken() { token?.stop() }

    /// Checks everything named in the settings, without a store: fails as opening a session would.
    func check(_ logger: Logger) async throws {
        var additions = ClientSession.Additions()
        additions.logger = logger
        additions.runsFixtures = true
        try await ClientSession.check(self, additions)
    }

    private var ofEndpoint: String { name.isEmpty ? "" : " (endpoint \(name))" }
}

/// The plugins that take part in the commands of a deployment.
package struct PluginSettings: Sendable {
    /// The file of the installed policy; nil for none.
    package let policy: String?
    /// The folder in which the secrets are, each in a file of its name.
    package let secrets: String?
    /// The policy from afar, which takes the place of the installed one; nil for none.
    package let fleet: PolicySettings?

    /// The files in which the plugins' decisions are; none if they are kept in memory alone.
    ///
    /// - Throws: the errors of an invalid policy.
    package func decisionLogs() throws -> [DecisionLog] {
        let installed = try policy.flatMap { try PluginPolicy(file: $0).decisionLog }
        return [fleet?.commandLog, installed ?? fleet?.decisionLog].compactMap(\.self)
    }

    /// Loads the plugins. Their stored values are in the store.
    ///
    /// - Throws: an error for an invalid policy, plugin or secret.
    func load(
        for settings: ClientSettings, _ store: any LocalStore, _ transport: any Transport,
        _ additions: ClientSession.Additions
    ) async throws -> Plugins {
        if let secrets, FileStatus(secrets)?.isFolder != true {
            throw SluiceError(.invalidArgument, "secrets: there is no folder \(PlainText.line(secrets))")
        }
        let folder = secrets.map { SecretFolder(path: $0) }
        var options = PluginOptions(
            logger: additions.logger ?? Logger(label: "sluice.plugins"), transport: transport, store: store,
            storage: try await StoredPluginValues(store), secret: { try folder?.secret($0) },
            dialect: settings.dialect, tables: settings.tables)
        options.metrics = additions.metrics
        options.ownFiles = Set(settings.store.map(StoreFileNames.all) ?? [])
        options.keepsInputs = additions.keepsInputs
        if additions.runsFixtures { options.gate = FixtureRunner.gate }
        return try await load(options, countedBy: additions.policyCounter)
    }

    /// Loads the plugins of the policy from afar, or of the installed one.
    ///
    /// - Parameter counter: counts the decisions; nil if another process counts them, from a file.
    func load(_ options: PluginOptions, countedBy counter: DecisionCounter?) async throws -> Plugins {
        guard let fleet else { return try await Plugins(policy: policy ?? "", options: options) }
        var options = options
        options.observer = counter
        let installed = try policy.map { path throws(SluiceError) in try PluginPolicy(file: path) }
        options.decisionLog = counter == nil ? fleet.commandLog : installed?.decisionLog ?? fleet.decisionLog
        // The writes of a command are part of a trial too.
        let plans = try fleet.plans(insteadOf: installed?.plans ?? [], hasTrial: counter == nil)
        do {
            return try await Plugins(plans, options: options)
        } catch {
            // The follower withdraws the version; until then the installed policy serves.
            return try await Plugins(installed?.plans ?? [], options: options)
        }
    }
}

/// The source of an encrypted store's key.
package enum StoreKeySource: Sendable, Equatable {
    case keyFile(String)
    case passphraseFile(String)
    /// 64 hexadecimal digits.
    case key(String)
    case passphrase(String)

    /// The named file; nil if none is named.
    ///
    /// - Throws: that there are two.
    package init?(keyFile: String?, passphraseFile: String?) throws {
        switch (keyFile, passphraseFile) {
        case (nil, nil): return nil
        case (let file?, nil): self = .keyFile(file)
        case (nil, let file?): self = .passphraseFile(file)
        case (_?, _?): throw SluiceError(.invalidArgument, "a store has a key or a passphrase, not both")
        }
    }

    /// Returns the encryption for opening the store.
    ///
    /// - Throws: an error for an unreadable file or an invalid key.
    package func encryption() throws -> StoreEncryption {
        switch self {
        case .keyFile(let path): .key(try StoreKey(file: path))
        case .passphraseFile(let path): .passphrase(try StorePassphrase(file: path))
        case .key(let digits): .key(try StoreKey(hexadecimal: digits))
        case .passphrase(let text): .passphrase(try StorePassphrase(text))
        }
    }
}
