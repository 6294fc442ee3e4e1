internal import Foundation
internal import Sluice
internal import SluiceLua

/// An open store, and a context over it, for the length of one command.
struct ClientSession {
    let context: SyncContext
    let settings: ClientSettings

    /// Opens the store, runs `body`, and closes the store, come what may.
    ///
    /// - Parameters:
    ///   - usesNetwork: whether `body` reaches the server; without it no endpoint is needed.
    ///   - asksPlugins: whether the plugins of the deployment's policy take part.
    ///   - makesStore: whether a store that is not there is made. Whoever only looks would take a mistyped name for an
    ///     empty store.
    static func run<Result>(
        _ settings: ClientSettings, usesNetwork: Bool, asksPlugins: Bool = false, makesStore: Bool = false,
        _ body: (ClientSession) async throws -> Result
    ) async throws -> Result {
        let path = try settings.requireStore()
        let connection = usesNetwork ? try await settings.connection() : nil
        guard makesStore || FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure.usage("there is no store at \(Plain.line(path))")
        }
        let store = try SQLiteStore(
            path: path, encryption: try settings.storeKey?.encryption(), options: settings.storeOptions)
        do {
            let transport = AsyncHTTPTransport()
            let plugins = asksPlugins ? try await settings.plugins?.load(for: settings, store, transport) : nil
            let client = connection.map {
                SluiceClient(
                    endpoint: $0.endpoint, dialect: settings.dialect, transport: transport,
                    filters: plugins.map { [$0.filter] } ?? [], options: $0.options)
            }
            var options = SyncOptions(conflictPolicy: settings.conflicts, dialect: settings.dialect)
            (options.batchSize, options.concurrency) = (settings.batch, settings.concurrency)
            options.localOnly = settings.localOnly
            options.user = try await user(settings, store, usesNetwork: usesNetwork)
            options = plugins?.added(to: options) ?? options
            let context = try await SyncContext(
                client: client, store: store, tables: settings.tables, migrations: settings.migrations,
                options: options)
            let result = try await body(ClientSession(context: context, settings: settings))
            try await store.close()
            return result
        } catch {
            try? await store.close()
            throw error
        }
    }

    /// Whose session it is. A change that is made where nothing tells is that of the one user who has pulled into the
    /// store, if there is one.
    private static func user(
        _ settings: ClientSettings, _ store: any LocalStore, usesNetwork: Bool
    ) async throws -> String {
        let users = try await StoreUsers(store)
        if let user = await settings.sessionUser(among: users.known) { return user }
        return usesNetwork ? "" : users.current ?? ""
    }
}
