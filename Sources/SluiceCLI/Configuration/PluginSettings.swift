internal import Foundation
internal import Logging
internal import Sluice
internal import SluiceLua

/// The plugins that take part in the commands of a deployment.
struct PluginSettings {
    private static let mostSecretBytes = 65_536

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
        try await Plugins(
            policy: policy,
            options: PluginOptions(
                logger: Logger(label: "sluice.plugins"), transport: transport, store: store,
                storage: try await StoredPluginValues(store), secret: { try secret($0) },
                dialect: settings.dialect, tables: settings.tables))
    }

    /// The contents of a secret's file, without the line break at its end; nil where there is no such file.
    private func secret(_ name: String) throws -> String? {
        // The name comes from a plugin's manifest: it may lead nowhere else.
        let isPlain = name.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 >= 0x20 } && !name.hasPrefix(".")
        guard let secrets, isPlain, !name.isEmpty else { return nil }
        let path = (secrets as NSString).appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        guard let file = FileHandle(forReadingAtPath: path),
            let data = try file.read(upToCount: Self.mostSecretBytes + 1), data.count <= Self.mostSecretBytes,
            let text = String(bytes: data, encoding: .utf8)
        else { throw SluiceError(.invalidArgument, "the secret \(Plain.line(path)) is not a readable file of text") }
        return text.trimmingCharacters(in: .newlines)
    }
}
