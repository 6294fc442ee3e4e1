package import CoreMetrics
internal import Foundation
package import Logging
package import Sluice
internal import SluiceConfiguration
package import SluiceLua
package import SluicePolicy

/// An open store with its sync context, for one command or for as long as a daemon uses these settings.
package struct ClientSession: Sendable {
    package let context: SyncContext
    package let settings: ClientSettings
    /// The active plugins; nil if there are none.
    package let plugins: Plugins?
    /// The transport after all filters.
    let transport: AsyncHTTPTransport
    private let store: SQLiteStore
    private let token: OwnedToken?

    /// The daemon's additions to a session.
    package struct Additions: Sendable {
        package var logger: Logger?
        /// The metrics of the plugins; nil if they are not counted.
        package var metrics: (any MetricsFactory)?
        /// Returns the client's filters, given the one of the plugins.
        package var filters: @Sendable ([any RequestFilter]) -> [any RequestFilter] = { $0 }
        package var scheduleHooks: [any ScheduleHook] = []
        /// Whether the plugins' fixtures run before the plugins serve.
        package var runsFixtures = false
        /// The owners of the tokens that were used for users.
        package var owners = TokenOwners()
        /// Whether the inputs and answers of plugins are kept in memory with their decisions.
        package var keepsInputs = false
        /// Counts the decisions of a policy from afar; nil for a command, whose decisions the daemon counts from a file.
        package var policyCounter: DecisionCounter?

        package init() {}
    }

    /// Opens the store, runs `body`, and closes the store in any case.
    ///
    /// - Parameters:
    ///   - usesNetwork: whether `body` reaches the server; without it no endpoint is needed.
    ///   - asksPlugins: whether the plugins of the deployment's policy take part.
    ///   - makesStore: whether a store that is not there is made. A command that only reads would take a mistyped name
    ///     for an empty store.
    package static func run<Result>(
        _ settings: ClientSettings, usesNetwork: Bool, asksPlugins: Bool = false, makesStore: Bool = false,
        _ body: (ClientSession) async throws -> Result
    ) async throws -> Result {
        let session = try await open(
            settings, usesNetwork: usesNetwork, asksPlugins: asksPlugins, makesStore: makesStore)
        do {
            let result = try await body(session)
            let lost = await session.plugins?.metrics.lostDecisions ?? 0
            if lost > 0 {
                let text = "\(lost.counted("decision")) of plugins could not be written to the file of decisions"
                // Standard error may be closed: the command's own result stands all the same.
                try? FileHandle.standardError.write(contentsOf: Data("sluice: \(text)\n".utf8))
            }
            try await session.close()
            return result
        } catch {
            try? await session.close()
            guard let error = error as? SluiceError, error.code == .storeBusy, let store = settings.store,
                let holder = StoreHold.holder(of: store)
            else { throw error }
            throw SluiceError(
                .storeBusy, "\(error.message); it is held by \(holder.description): sluice ctl has it sync",
                cause: error.cause)
        }
    }

    /// Opens the store, loads the plugins and makes the context. The caller closes the session.
    ///
    /// - Throws: ``SluiceError`` for settings, a store, a token or a plugin that cannot be used.
    package static func open(
        _ settings: ClientSettings, usesNetwork: Bool, asksPlugins: Bool = false, makesStore: Bool = false,
        _ additions: Additions = Additions()
    ) async throws -> ClientSession {
        let path = try settings.requireStore()
        let connection = usesNetwork ? try await settings.connection() : nil
        guard makesStore || FileManager.default.fileExists(atPath: path) else {
            throw SluiceError(.invalidArgument, "there is no store at \(PlainText.line(path))")
        }
        let store = try SQLiteStore(
            path: path, encryption: try settings.storeKey?.encryption(), options: settings.storeOptions)
        return try await over(store, settings, connection, asksPlugins: asksPlugins, additions)
    }

    /// Opens a daemon's session over a store in memory, and closes it: fails for the settings that a store's file would
    /// be refused with.
    ///
    /// - Throws: the errors of ``open(_:usesNetwork:asksPlugins:makesStore:_:)``.
    static func check(_ settings: ClientSettings, _ additions: Additions) async throws {
        let connection = try await settings.connection()
        var settings = settings
        // A user that is named needs no token, whose program would run for it.
        settings.user = settings.user ?? ""
        let store = try SQLiteStore(path: ":memory:", options: settings.storeOptions)
        try await over(store, settings, connection, asksPlugins: true, additions).close()
    }

    /// Makes the session of an open store. If that fails, the store is closed.
    private static func over(
        _ store: SQLiteStore, _ settings: ClientSettings, _ connection: (endpoint: Endpoint, options: ClientOptions)?,
        asksPlugins: Bool, _ additions: Additions
    ) async throws -> ClientSession {
        do {
            let transport = try settings.network.transport()
            let plugins =
                asksPlugins ? try await settings.plugins?.load(for: settings, store, transport, additions) : nil
            let user = try await user(settings, store, usesNetwork: connection != nil)
            let token = settings.token.map {
                OwnedToken(
                    $0, settings.tokenScheme, of: user, isConfigured: settings.user != nil, store: settings.store ?? "",
                    owners: additions.owners)
            }
            let client = connection.map {
                var options = $0.options
                options.tokenProvider = token.map { settings.sent($0) }
                return SluiceClient(
                    endpoint: $0.endpoint, dialect: settings.dialect, transport: transport,
                    filters: additions.filters(plugins.map { [$0.filter] } ?? []), options: options)
            }
            var options = SyncOptions(
                conflictPolicy: settings.conflicts, maximumAttempts: settings.attempts, pageSize: settings.pageSize,
                dialect: settings.dialect)
            (options.batchSize, options.concurrency) = (settings.batch, settings.concurrency)
            options.localOnly = settings.localOnly
            options.pull.countsRows = true
            if let logger = additions.logger { options.logger = logger }
            for warning in settings.warnings { options.logger.warning("\(warning)") }
            options.scheduleHooks = additions.scheduleHooks
            options.user = user
            options = plugins?.added(to: options) ?? options
            let context = try await SyncContext(
                client: client, store: store, tables: settings.tables, migrations: settings.migrations,
                options: options)
            warn(of: context, settings, options.logger)
            return ClientSession(
                context: context, settings: settings, plugins: plugins, transport: transport, store: store,
                token: token)
        } catch {
            try? await store.close()
            throw error
        }
    }

    /// Warns of tables and columns that the settings declare as shared, and that the store keeps on this machine.
    private static func warn(of context: SyncContext, _ settings: ClientSettings, _ logger: Logger) {
        let reason = "a program has opened the store with local: for it, and the store keeps that"
        for schema in settings.tables where !settings.localOnly.tables.contains(schema.name) {
            let name = schema.name
            if context.localOnly.tables.contains(name) {
                logger.warning("the table \(name) stays on this machine: \(reason)")
            }
            let columns = (context.localOnly.columns[name] ?? []).subtracting(settings.localOnly.columns[name] ?? [])
            for column in columns.sorted() {
                logger.warning("the column \(column) of \(name) stays on this machine: \(reason)")
            }
        }
    }

    /// Closes the store, after the transactions in progress.
    package func close() async throws {
        settings.token?.stop()
        try await store.close()
    }

    /// Whether the store's path leads to the file that is open.
    var isInPlace: Bool { store.isInPlace }

    /// Whether the token is another user's now. That user's session can begin.
    var isOfOtherUser: Bool { token?.isOfOther ?? false }

    /// Returns the session's user. If neither the settings nor a credential name one, an offline change belongs to the
    /// store's last user, if it has exactly one; so does a session whose token cannot be had yet.
    private static func user(
        _ settings: ClientSettings, _ store: any LocalStore, usesNetwork: Bool
    ) async throws -> String {
        let users = try await StoreUsers(store)
        if let user = await settings.sessionUser(among: users.known, usesNetwork: usesNetwork) { return user }
        return usesNetwork && settings.token == nil ? "" : users.current ?? ""
    }
}
