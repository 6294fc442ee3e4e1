internal import Configuration
internal import Foundation
internal import SluiceConfiguration
internal import SluiceCore
internal import Synchronization

/// The effective configuration: flags override the environment, the environment the file, and the file the defaults.
/// Each value has its origin.
package struct Settings: Sendable {
    /// The origin of a value.
    package enum Origin: Sendable, Hashable, CustomStringConvertible {
        /// A flag, with its name.
        case flag(String)
        case variable(String)
        /// File, line and column.
        case file(String)
        case builtIn

        package var description: String {
            switch self {
            case .flag(let name): name
            case .variable(let name): "the environment's \(name)"
            case .file(let place): place
            case .builtIn: "built in"
            }
        }
    }

    /// A value and its origin.
    package struct Value: Sendable, Hashable {
        package var texts: [String]
        package var origin: Origin

        package var text: String { texts.joined(separator: ",") }
    }

    /// The names of the endpoints, in order; one empty name where the configuration has a single endpoint.
    package let endpoints: [String]
    /// The file, as its path.
    package let path: String?
    private let values: [String: Value]

    /// Merges the sources.
    ///
    /// - Parameters:
    ///   - flags: the flags' values, by key.
    ///   - environment: the process's variables.
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the flag, the variable or the place in the file,
    ///   and the allowed values.
    package init(_ file: SettingsFile, flags: [String: [String]] = [:], environment: [String: String]) throws {
        path = file.path
        endpoints = file.endpoints.isEmpty ? [""] : file.endpoints
        let prefixes = [""] + file.endpoints.map { "endpoints.\($0)." }
        var known: [String: Setting] = [:]
        for prefix in prefixes {
            for setting in Setting.all where prefix.isEmpty || setting.scope == .endpoint {
                known[prefix + setting.key] = setting
            }
        }
        for key in flags.keys.sorted() where known[key] == nil || known[key]?.isSecret == true {
            let hint = NearestKey.suggestion(for: key, among: known.keys.sorted()) ?? ""
            throw SluiceError(.invalidArgument, "there is no setting \(key) for --set\(hint)")
        }
        let found = Self.look(for: known, file, flags, environment)
        for (key, value) in found.sorted(by: { $0.key < $1.key }) {
            guard let setting = known[key] else { continue }
            for text in value.texts {
                guard let mistake = setting.form.mistake(in: text) else { continue }
                // A refused secret is not repeated in the error.
                let reason = setting.isSecret ? "is no valid value" : mistake
                if case .flag(let name) = value.origin { throw SluiceError(.invalidArgument, "\(name) \(reason)") }
                throw SluiceError(.invalidArgument, "\(value.origin): \(key) \(reason)")
            }
        }
        values = found
    }

    /// Reads every value from the sources, and records its source.
    private static func look(
        for known: [String: Setting], _ file: SettingsFile, _ flags: [String: [String]],
        _ environment: [String: String]
    ) -> [String: Value] {
        let scoped = { (key: String) in AbsoluteConfigKey(["sluice"] + key.split(separator: ".").map(String.init)) }
        func memory(_ name: String, _ values: [String: [String]]) -> InMemoryProvider {
            let pairs = values.compactMap { key, texts -> (AbsoluteConfigKey, ConfigValue)? in
                guard let setting = known[key] else { return nil }
                let content: ConfigContent = setting.form == .list ? .stringArray(texts) : .string(texts.first ?? "")
                return (scoped(key), ConfigValue(content, isSecret: setting.isSecret))
            }
            return InMemoryProvider(name: name, values: Dictionary(pairs, uniquingKeysWith: { $1 }))
        }
        let secrets = Set(known.values.filter(\.isSecret).map(\.variable))
        let texts = file.values.mapValues { node in
            (try? node.items().map { try $0.text() }) ?? [(try? node.text()) ?? ""]
        }
        let origins = OriginReporter()
        let reader = ConfigReader(
            providers: [
                memory("flags", flags),
                EnvironmentVariablesProvider(
                    environmentVariables: environment.filter { $0.key.hasPrefix("SLUICE_") && !$0.value.isEmpty },
                    secretsSpecifier: .specific(secrets)),
                memory("file", texts),
            ], accessReporter: origins
        ).scoped(to: "sluice")
        var found: [String: Value] = [:]
        for (key, setting) in known {
            let name = ConfigKey(key.split(separator: ".").map(String.init))
            let texts =
                setting.form == .list
                ? reader.stringArray(forKey: name, isSecret: setting.isSecret)
                : reader.string(forKey: name, isSecret: setting.isSecret).map { [$0] }
            guard let texts else { continue }
            let origin: Origin =
                switch origins.rank {
                case 0: .flag(key.contains(".") ? "--set \(key)" : "--\(key)")
                case 1: .variable(Setting.variable(key))
                default: .file(file.values[key]?.location ?? "")
                }
            found[key] = Value(texts: texts, origin: origin)
        }
        return found
    }

    /// Returns an endpoint's value, else the value for all endpoints, else the default.
    package func value(_ key: String, of endpoint: String = "") -> Value? {
        if !endpoint.isEmpty, let value = values["endpoints.\(endpoint).\(key)"] { return value }
        if let value = values[key] { return value }
        return Setting.all.first { $0.key == key }?.fallback.map { Value(texts: [$0], origin: .builtIn) }
    }
}

/// Records the source of the value read last.
private final class OriginReporter: AccessReporter {
    private let last = Mutex(0)

    /// The place of the source in the order of precedence, from 0.
    var rank: Int { last.withLock { $0 } }

    func report(_ event: AccessEvent) {
        let index = event.providerResults.firstIndex { (try? $0.result.get().value) != nil }
        last.withLock { $0 = index ?? 0 }
    }
}
