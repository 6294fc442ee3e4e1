internal import Foundation
internal import Sluice
internal import SluiceDaemon

extension ClientSettings {
    /// Store and server as a command's flags, the environment and the configuration file give them, in this order.
    ///
    /// - Throws: that a value cannot be, with its flag, variable or place.
    init(
        _ options: ConnectionOptions, push: PushOptions? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        let file = try options.config.map { try SettingsFile(path: $0) } ?? SettingsFile()
        var flags: [String: [String]] = [:]
        for (key, value) in [
            ("endpoint", options.endpoint), ("store", options.store), ("dialect", options.dialect),
            ("token-file", options.tokenFile), ("user", options.user),
            ("application-key-file", options.applicationKeyFile), ("key-file", options.key.keyFile),
            ("passphrase-file", options.key.passphraseFile), ("plugins", options.plugins),
            ("secrets", options.secrets), ("conflicts", push?.conflicts), ("batch", push?.batch.map { "\($0)" }),
            ("concurrency", push?.concurrency.map { "\($0)" }),
        ] {
            if let value { flags[key] = [value] }
        }
        // Where the file has several endpoints, --endpoint chooses one by its name.
        var name = file.endpoints.count == 1 ? file.endpoints[0] : ""
        if let given = options.endpoint, file.endpoints.contains(given) {
            (name, flags["endpoint"]) = (given, nil)
        } else if file.endpoints.count > 1 {
            throw CommandFailure.usage(
                "the configuration has several endpoints: choose one with --endpoint "
                    + file.endpoints.joined(separator: ", or "))
        }
        try self.init(
            file, Settings(file, flags: flags, environment: environment), endpoint: name, environment: environment)
    }
}
