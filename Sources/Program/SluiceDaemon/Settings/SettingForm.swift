internal import Foundation
internal import NIOCore
internal import Sluice
internal import SluiceConfiguration
internal import SluiceCore

/// The form of a setting's value: parses its text, and words the refusal of an invalid one.
package enum SettingForm: Sendable, Hashable {
    /// Any text that is not empty.
    case text
    /// A file or folder: relative to the configuration file, or `credential:NAME` for a file that the service manager
    /// hands over (systemd's `LoadCredential`).
    case path
    case integer(ClosedRange<Int>)
    /// `true` or `false`.
    case flag
    /// A length of time: a number with `ms`, `s`, `m`, `h` or `d`.
    case duration(ClosedRange<Duration>)
    case choice([String])
    /// Several texts; in the environment with commas between them.
    case list

    /// The examples of a time. A table of many settings says them once, outside of itself.
    static let times = " such as 500ms, 30s, 5m, 1h or 2d,"

    /// The allowed values, for people to read.
    package var allowed: String {
        switch self {
        case .text: "a text"
        case .path: "a path, or credential:NAME"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .flag: "true or false"
        case .duration(let range):
            "a time\(Self.times) from \(DurationText.text(range.lowerBound)) to "
                + DurationText.text(range.upperBound)
        case .choice(let choices): choices.joined(separator: ", ")
        case .list: "a list of texts"
        }
    }

    /// Returns the reason that a text is no such value; nil if it is one.
    func mistake(in text: String) -> String? {
        let isMet =
            switch self {
            case .text, .path, .list: !text.isEmpty
            case .integer(let range): Int(text).map(range.contains) ?? false
            case .flag: ["true", "false"].contains(text)
            case .duration(let range): DurationText.duration(text).map(range.contains) ?? false
            case .choice(let choices): choices.contains(text)
            }
        if isMet { return nil }
        if case .choice(let choices) = self {
            let hint = NearestKey.suggestion(for: text, among: choices) ?? ""
            return "cannot be \(text)\(hint); use \(choices.joined(separator: ", "))"
        }
        return "cannot be \(text); use \(allowed)"
    }

    /// The value's JSON Schema.
    var schema: JSON {
        switch self {
        case .text: ["type": "string", "minLength": 1]
        case .path: ["type": "string", "minLength": 1, "description": "A path."]
        case .integer(let range):
            ["type": "integer", "minimum": JSON(range.lowerBound), "maximum": JSON(range.upperBound)]
        case .flag: ["type": "boolean"]
        case .duration: ["type": "string", "pattern": #"^[0-9]+(ms|s|m|h|d)$"#]
        case .choice(let choices): ["type": "string", "enum": JSON(choices.map { JSON($0) })]
        case .list: ["type": "array", "items": ["type": "string"]]
        }
    }
}

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
    package func path(_ key: String) throws -> String? { try paths(key).first }

    /// Returns the paths of a list, each as ``path(_:)`` does.
    package func paths(_ key: String) throws -> [String] {
        guard let value = settings.value(key, of: endpoint) else { return [] }
        return try value.texts.map { try path($0, of: key, from: value.origin) }
    }

    private func path(_ text: String, of key: String, from origin: Settings.Origin) throws -> String {
        if text.hasPrefix("credential:") {
            let name = String(text.dropFirst("credential:".count))
            guard let folder = environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty else {
                throw SluiceError(
                    .invalidArgument,
                    "\(origin): \(key) is \(text), and the service manager has handed over no credentials "
                        + "(CREDENTIALS_DIRECTORY is not set)")
            }
            guard !name.isEmpty, !name.contains("/"), !name.hasPrefix(".") else {
                throw SluiceError(
                    .invalidArgument, "\(origin): \(key): a credential's name has no / and no . first")
            }
            return (folder as NSString).appendingPathComponent(name)
        }
        guard case .file = origin, let file = settings.path, !text.hasPrefix("/") else { return text }
        let folder = (file as NSString).deletingLastPathComponent
        return folder.isEmpty ? text : (folder as NSString).appendingPathComponent(text)
    }
}

/// Error texts for commands and the daemon's log: one sentence, without a library's internals.
package enum CommandText {
    package static func reason(_ error: any Error) -> String {
        guard let error = error as? SluiceError else { return words(error) }
        guard let cause = error.cause.map(words), !cause.isEmpty, !error.message.contains(cause) else {
            return error.message
        }
        return "\(error.message): \(cause)"
    }

    /// Returns the text of another library's error, without its function and file names.
    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as SluiceError: reason(error)
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as POSIXError: String(cString: strerror(error.code.rawValue))
        case let error as CocoaError: file(error)
        default: "\(error)"
        }
    }

    private static func file(_ error: CocoaError) -> String {
        let path = error.filePath.map { "\($0): " } ?? ""
        let reason = (error.underlying as? POSIXError).map { words($0) }
        return path + (reason ?? error.localizedDescription)
    }
}
