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

    /// The allowed values, for people to read.
    package var allowed: String {
        switch self {
        case .text: "a text"
        case .path: "a path, or credential:NAME"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .flag: "true or false"
        case .duration(let range):
            "a time such as 500ms, 30s, 5m, 1h or 2d, from \(DurationText.text(range.lowerBound)) to "
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
