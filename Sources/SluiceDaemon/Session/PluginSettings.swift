internal import Logging
internal import Sluice
internal import SluiceConfiguration
internal import SluiceLua
internal import SluicePluginTools

/// The plugins that take part in the commands of a deployment.
package struct PluginSettings: Sendable {
    /// The policy's file.
    package let policy: String
    /// The folder in which the secrets are, each in a file of its name.
    package let secrets: String?

    /// Loads the plugins. What they keep, they keep in the store.
    ///
    /// - Throws: what is wrong with the policy, a plugin or a secret.
    func load(
        for settings: ClientSettings, _ store: any LocalStore, _ transport: any Transport,
        _ additions: ClientSession.Additions
    ) async throws -> Plugins {
        let folder = secrets.map { SecretFolder(path: $0) }
        var options = PluginOptions(
            logger: additions.logger ?? Logger(label: "sluice.plugins"), transport: transport, store: store,
            storage: try await StoredPluginValues(store), secret: { try folder?.secret($0) },
            dialect: settings.dialect, tables: settings.tables)
        options.metrics = additions.metrics
        options.ownFiles = Set(settings.store.map(StoreFileNames.all) ?? [])
        options.keepsInputs = additions.keepsInputs
        if additions.runsFixtures { options.gate = FixtureRunner.gate }
        return try await Plugins(policy: policy, options: options)
    }
}
