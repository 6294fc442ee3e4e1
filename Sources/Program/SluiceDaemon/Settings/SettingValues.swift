internal import Foundation
internal import Sluice

/// The values of one endpoint, or of the daemon, in their types. The forms of the values have been checked before.
package struct SettingValues {
    private let settings: Settings
    private let endpoint: String
    private let environment: [String: String]

    package init(_ settings: Settings, endpoint: String = "", environment: [String: String]) {
        self.settings = settings
        self.endpoint = endpoint
        self.environment = environment
    }

    package func text(_ key: String) -> String? { settings.value(key, of: endpoint)?.text }
    package func list(_ key: String) -> [String]? { settings.value(key, of: endpoint)?.texts }
    package func integer(_ key: String) -> Int { text(key).flatMap { Int($0) } ?? 0 }
    package func number(_ key: String) -> Int? { text(key).flatMap { Int($0) } }
    package func flag(_ key: String) -> Bool { text(key) == "true" }
    package func duration(_ key: String) -> Duration { text(key).flatMap(DurationText.duration) ?? .zero }
    package func origin(_ key: String) -> String { settings.value(key, of: endpoint)?.origin.description ?? "" }

    /// Returns a path: a value of the file is relative to the file, any other to the working folder.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for `credential:NAME` if the service manager has provided no
    ///   such file.
    package func path(_ key: String) throws -> String? {
        guard let value = settings.value(key, of: endpoint) else { return nil }
        let text = value.text
        if text.hasPrefix("credential:") {
            let name = String(text.dropFirst("credential:".count))
            guard let folder = environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty else {
                throw SluiceError(
                    .invalidArgument,
                    "\(value.origin): \(key) is \(text), and the service manager has handed over no credentials "
                        + "(CREDENTIALS_DIRECTORY is not set)")
            }
            guard !name.isEmpty, !name.contains("/"), !name.hasPrefix(".") else {
                throw SluiceError(
                    .invalidArgument, "\(value.origin): \(key): a credential's name has no / and no . first")
            }
            return (folder as NSString).appendingPathComponent(name)
        }
        guard case .file = value.origin, let file = settings.path, !text.hasPrefix("/") else { return text }
        let folder = (file as NSString).deletingLastPathComponent
        return folder.isEmpty ? text : (folder as NSString).appendingPathComponent(text)
    }
}
