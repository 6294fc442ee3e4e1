public import Logging
internal import Sluice
public import SluiceBackend
internal import SluiceLua

/// The plugins in Lua that a backend's configuration names, as hooks of its tables.
///
/// ```swift
/// var configuration = try BackendConfiguration(file: "backend.yaml")
/// let hooks = try await ServerPlugins.hooks(of: &configuration)
/// let backend = try await Backend(configuration, hooks: hooks)
/// ```
public enum ServerPlugins {
    /// Loads the plugins and takes them out of the configuration, which a ``Backend`` takes then. What they keep (`kv`)
    /// is kept as long as the process runs.
    ///
    /// - Returns: hooks for the tables that plugins are for; none where the configuration names no plugins.
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file and the place: what is wrong with the
    ///   policy, a plugin or a secret, or that a plugin is for none of the tables.
    public static func hooks(
        of configuration: inout BackendConfiguration, logger: Logger = Logger(label: "sluice.plugins")
    ) async throws -> [String: any TableHooks] {
        guard let named = configuration.plugins else { return [:] }
        let folder = named.secrets.map { SecretFolder(path: $0) }
        let plugins = try await Plugins(
            policy: named.policy,
            options: PluginOptions(
                logger: logger, transport: AsyncHTTPTransport(), secret: { try folder?.secret($0) }))
        let hooks = try Self.hooks(plugins, for: configuration.tables.map(\.name), logger)
        configuration.plugins = nil
        return hooks
    }

    /// The plugins as hooks of those tables.
    static func hooks(
        _ plugins: Plugins, for tables: [String], _ logger: Logger
    ) throws -> [String: any TableHooks] {
        for name in plugins.idle(onTables: tables) {
            throw SluiceError(
                .invalidArgument, "the plugin \(name) has hooks for a server's tables, and is for none of those here")
        }
        return Dictionary(
            uniqueKeysWithValues: tables.filter(plugins.isAround).map { ($0, PluginTableHooks(plugins, logger)) })
    }
}
