public import SluiceCore
internal import SluiceLua

/// What a check of a bundle has found.
public struct CheckReport: ToolReport {
    /// Something that is wrong, or that its author may want to know.
    public struct Finding: Sendable, Hashable {
        /// How bad it is.
        public enum Severity: String, Sendable, Hashable {
            /// The plugin does not work as it is.
            case error
            /// It works, and something about it is odd.
            case warning
        }

        /// How bad it is.
        public var severity: Severity
        /// The file, with the line where there is one: `main.lua:12`.
        public var place: String
        /// What it is.
        public var message: String
    }

    /// The plugin, or the folder where it has no name yet.
    public let plugin: String
    /// What was found.
    public internal(set) var findings: [Finding] = []

    /// Whether the plugin works.
    public var isGood: Bool { !findings.contains { $0.severity == .error } }

    /// A line for each finding, and one that counts them.
    public var lines: [String] {
        let errors = findings.count { $0.severity == .error }
        return findings.map { "\($0.place): \($0.severity.rawValue): \($0.message)" }
            + ["\(plugin): \(errors.counted("error")), \((findings.count - errors).counted("warning"))"]
    }

    /// The same for a program.
    public var json: JSON {
        [
            "plugin": JSON(plugin), "good": JSON(isGood),
            "findings": JSON(
                findings.map { finding in
                    [
                        "severity": JSON(finding.severity.rawValue), "place": JSON(finding.place),
                        "message": JSON(finding.message),
                    ]
                }),
        ]
    }

    mutating func error(_ place: String, _ message: String) {
        findings.append(Finding(severity: .error, place: place, message: message))
    }

    mutating func warn(_ place: String, _ message: String) {
        findings.append(Finding(severity: .warning, place: place, message: message))
    }
}
