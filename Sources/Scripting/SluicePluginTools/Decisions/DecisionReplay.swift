public import SluiceCore
public import SluiceLua

/// Repeats the logged decisions of a plugin with another version of it, and lists the answers that change.
///
/// The original world no longer exists: the clock is set to the decision's time, and `kv`, the store and other servers
/// are empty. The answers to a filter's `next` are replayed. A decision that waited for anything else, or without its
/// input, is skipped and counted.
public struct DecisionReplay: ToolReport {
    /// A decision whose answer has changed.
    public struct Change: Sendable {
        /// The logged decision.
        public let before: PluginDecision
        /// The number of the decision's line in the file.
        public let line: Int
        /// The new decision: its name, `none`, `changed`, or `failed`.
        public let decision: String
        /// The differences, one on each line.
        public let differences: [String]
    }

    /// The plugin's name and version.
    public let plugin: String
    /// The number of repeated decisions.
    public private(set) var asked = 0
    /// The number of skipped decisions.
    public private(set) var passedOver = 0
    /// The answers that change.
    public private(set) var changes: [Change] = []
    /// Whether no answer changes.
    public var isGood: Bool { changes.isEmpty }

    /// Replays the decisions of a plugin.
    ///
    /// - Parameters:
    ///   - name: the plugin's name in the deployment; nil for the name in the manifest.
    ///   - config: the configuration for the new version.
    /// - Throws: ``SluiceError`` of code `invalidArgument` if the configuration violates the schema, or the file has no
    ///   decision of that name.
    public init(
        _ file: DecisionFile, with bundle: PluginBundle, as name: String? = nil, config: JSON = .object
    ) async throws(SluiceError) {
        _ = try PluginPlan(bundle, config: config)
        let name = name ?? bundle.manifest.name
        try file.requireDecisions(of: name)
        plugin = "\(bundle.manifest.name) \(bundle.manifest.version)"
        for line in file.lines where line.decision.plugin == name {
            let entry = line.decision
            let exchanges = entry.hook == .filter ? entry.input?["next"]?.elements ?? [] : []
            guard entry.waits == exchanges.count, entry.decision != "passed_on",
                let json = DecisionFixture.fixture(entry, config: config),
                let fixture = try? PluginFixture(json, path: "line \(line.number)"),
                let trial = try? FixtureTrial(fixture, bundle, dialect: .azureV2, tables: [])
            else {
                passedOver += 1
                continue
            }
            let world = FixtureWorld(fixture.world)
            guard let outcome = try? await trial.outcome(in: world) else {
                passedOver += 1
                continue
            }
            asked += 1
            compare(line, outcome, exchanges, world)
        }
    }

    private mutating func compare(
        _ line: DecisionFile.Line, _ outcome: FixtureTrial.Outcome, _ exchanges: [JSON], _ world: FixtureWorld
    ) {
        let entry = line.decision
        let name = outcome.failure == nil ? outcome.name : "failed"
        var differences: [String] = []
        if name != entry.decision { differences.append("decision: was \(entry.decision), is \(name)") }
        if let failure = outcome.failure, entry.failure?.kind != failure.kind {
            differences.append("failure: \(failure)")
        } else if outcome.failure == nil, let before = entry.answer {
            var comparison = FixtureComparison()
            comparison.whole("answer", Self.plain(before), outcome.answer?.raw.map(Self.plain))
            differences += Self.words(comparison)
        }
        if entry.hook == .filter {
            var comparison = FixtureComparison()
            comparison.whole(
                "sent", JSON(exchanges.map { $0["request"] ?? .null }), JSON(world.sent.map(ExchangeDocument.request)))
            differences += Self.words(comparison)
        }
        guard !differences.isEmpty else { return }
        changes.append(Change(before: entry, line: line.number, decision: name, differences: differences))
    }

    private static func words(_ comparison: FixtureComparison) -> [String] {
        comparison.differences.map { $0.replacing("expected", with: "was").replacing("found", with: "is") }
    }

    /// Returns an answer without the reason of a decision and the elapsed time, because nothing depends on them. The
    /// record of a merge by rules is omitted too, because it follows from the rules.
    private static func plain(_ answer: JSON) -> JSON {
        var answer = answer
        if answer["fields"] != nil { answer["record"] = nil }
        if answer["decision"] != nil { answer["reason"] = nil }
        answer["elapsed"] = nil
        return answer
    }

    /// A line for each changed answer, with the differences below it.
    public var lines: [String] {
        changes.flatMap { change in
            let entry = change.before
            let about = entry.recordID.map { " \(entry.table ?? "")/\($0)" } ?? ""
            return ["line \(change.line): \(entry.hook.rawValue)\(about): \(entry.decision) -> \(change.decision)"]
                + change.differences.map { "  \($0)" }
        } + ["\(plugin): \(asked) asked again, \(changes.count.counted("change")), \(passedOver) passed over"]
    }

    /// The report as JSON.
    public var json: JSON {
        [
            "plugin": JSON(plugin), "asked": JSON(asked), "passed_over": JSON(passedOver),
            "changes": JSON(
                changes.map { change in
                    [
                        "line": JSON(change.line), "sequence": JSON(change.before.sequence),
                        "was": JSON(change.before.decision), "is": JSON(change.decision),
                        "differences": JSON(change.differences.map { JSON($0) }),
                    ]
                }),
        ]
    }
}
