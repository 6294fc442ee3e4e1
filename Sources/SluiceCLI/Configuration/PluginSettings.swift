internal import Logging
internal import Sluice
internal import SluiceLua

/// The plugins that take part in the commands of a deployment.
struct PluginSettings {
    /// The policy's file.
    let policy: String
    /// The folder in which the secrets are, each in a file of its name.
    let secrets: String?

    /// Loads the plugins for one command. What they keep, they keep in the store.
    ///
    /// - Throws: what is wrong with the policy, a plugin or a secret.
    func load(
        for settings: ClientSettings, _ store: any LocalStore, _ transport: any Transport
    ) async throws -> Plugins {
        let folder = secrets.map { SecretFolder(path: $0) }
        return try await Plugins(
            policy: policy,
            options: PluginOptions(
                logger: Logger(label: "sluice.plugins"), transport: transport, store: store,
                storage: try await StoredPluginValues(store), secret: { try folder?.secret($0) },
                dialect: settings.dialect, tables: settings.tables))
    }
}
