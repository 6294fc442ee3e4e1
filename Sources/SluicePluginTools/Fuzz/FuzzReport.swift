public import SluiceCore
internal import SluiceLua

/// What came of giving a plugin what nobody expects.
public struct FuzzReport: ToolReport {
    /// Something that a plugin should not do, whatever it is given.
    public struct Finding: Sendable {
        /// What happened.
        public let message: String
        /// The fixture that shows it.
        public let fixture: JSON
        /// How often it happened.
        public internal(set) var count = 1
    }

    /// The plugin.
    public let plugin: String
    /// The seed with which all of it can be tried again.
    public let seed: UInt64
    /// How many calls were made.
    public internal(set) var calls = 0
    /// How many configurations were tried, and how many of them the schema refused.
    public internal(set) var configurations = 0
    /// How many of those the schema refused.
    public internal(set) var refused = 0
    /// How often each outcome was seen: the name of an answer, or `failed KIND`.
    public internal(set) var outcomes: [String: Int] = [:]
    /// What was found, each kind once.
    public internal(set) var findings: [Finding] = []

    init(plugin: String, seed: UInt64) {
        self.plugin = plugin
        self.seed = seed
    }

    /// Whether nothing was found.
    public var isGood: Bool { findings.isEmpty }

    mutating func note(_ message: String, _ fixture: JSON) {
        if let index = findings.firstIndex(where: { $0.message == message }) {
            findings[index].count += 1
        } else if findings.count < 50 {
            findings.append(Finding(message: message, fixture: fixture))
        }
    }

    /// What was found, each with the fixture that shows it.
    public var lines: [String] {
        let counts = outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return [
            "# \(plugin), seed \(seed): \(calls.counted("call")) (\(counts)), \(configurations.counted("configuration")), "
                + "\(refused) refused by the schema"
        ] + findings.flatMap { ["\($0.message) (\($0.count.counted("time")))", "  \($0.fixture)"] }
            + [findings.isEmpty ? "nothing found" : "\(findings.count) found"]
    }

    /// The same for a program.
    public var json: JSON {
        [
            "plugin": JSON(plugin), "seed": JSON("\(seed)"), "calls": JSON(calls),
            "configurations": JSON(configurations), "refused": JSON(refused),
            "outcomes": JSON(members: outcomes.sorted { $0.key < $1.key }.map { ($0.key, JSON($0.value)) }),
            "findings": JSON(
                findings.map { ["message": JSON($0.message), "count": JSON($0.count), "fixture": $0.fixture] }),
        ]
    }
}
