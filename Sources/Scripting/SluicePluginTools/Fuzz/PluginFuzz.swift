public import SluiceCore
public import SluiceLua

/// Tests a plugin with unexpected input: records with wrong values, odd requests and answers, hostile configurations.
///
/// It corrupts the inputs of the plugin's fixtures. A plugin may give any answer, and may refuse with an error of its
/// own. It should never cause an error of Lua (`attempt to index a nil value`), use up its fuel or memory, or return a
/// result that its hook may not return. Such failures are reported.
public struct PluginFuzz: Sendable {
    private let bundle: PluginBundle
    /// Tables with declared columns: records from the plugin are checked against them.
    public var tables: [TableSchema] = []
    /// The deployment's plan, if its limits and its configuration have to apply.
    public var plan: PluginPlan?
    /// The seed of the generator.
    public var seed: UInt64 = 1
    /// The number of calls.
    public var calls = 500
    /// The number of configurations.
    public var configurations = 200

    /// Creates a test of a bundle.
    public init(_ bundle: PluginBundle) { self.bundle = bundle }

    /// Runs the test.
    public func run() async -> FuzzReport {
        var report = FuzzReport(plugin: plan?.name ?? bundle.manifest.name, seed: seed)
        var chance = SeededGenerator(seed: seed)
        let fixtures = bundle.fixtures.compactMap { try? JSON(parsing: bundle.files[$0] ?? []) }
        for _ in 0..<calls {
            guard let fixture = fixtures.randomElement(using: &chance) else { break }
            await call(spoiled(fixture, &chance), &report)
        }
        let given = fixtures.compactMap { $0["config"] } + [.object]
        for _ in 0..<configurations {
            await configure(
                HostileValues.spoiled(given.randomElement(using: &chance) ?? .object, using: &chance), &report)
        }
        return report
    }

    /// Returns the fixture with corrupted input and without expectations.
    private func spoiled(_ fixture: JSON, _ chance: inout SeededGenerator) -> JSON {
        var spoiled = JSON.object
        for name in ["name", "hook", "config", "deployment", "host"] { spoiled[name] = fixture[name] }
        spoiled["expect"] = .object
        var given = JSON.object
        for (kind, value) in fixture["given"]?.members ?? [] {
            given[kind] =
                kind == "record" ? record(value, &chance) : parts(of: value, isConflict: kind == "conflict", &chance)
        }
        spoiled["given"] = given
        return spoiled
    }

    /// Corrupts records and bodies, because they come from outside. The engine guarantees the form of everything else.
    private func parts(of value: JSON, isConflict: Bool, _ chance: inout SeededGenerator) -> JSON {
        var value = value
        for name in ["record", "before", "stored", "client", "server", "base"] {
            guard let there = value[name] else { continue }
            value[name] = record(there, &chance)
            if isConflict, Int.random(in: 0..<8, using: &chance) == 0 { value[name] = nil }
        }
        if let rows = value["rows"]?.elements {
            var spoiled = JSON.array
            for row in rows { spoiled.append(record(row, &chance)) }
            value["rows"] = spoiled
        }
        if let body = value["body"] {
            let isText = Int.random(in: 0..<8, using: &chance) == 0
            value["body"] = isText ? "no {json" : HostileValues.spoiled(body, using: &chance)
        }
        return value
    }

    /// Corrupts a record, which remains an object with its id.
    private func record(_ record: JSON, _ chance: inout SeededGenerator) -> JSON {
        var spoiled = HostileValues.spoiled(record, using: &chance)
        if spoiled.kind == .object { spoiled["id"] = record["id"] ?? "1" }
        return spoiled
    }

    private func call(_ json: JSON, _ report: inout FuzzReport) async {
        guard let fixture = try? PluginFixture(json, path: "fuzz"),
            let trial = try? FixtureTrial(fixture, bundle, dialect: .azureV2, tables: tables, in: plan),
            let outcome = try? await trial.outcome(in: FixtureWorld(fixture.world))
        else { return }
        report.calls += 1
        guard let failure = outcome.failure else {
            report.outcomes[outcome.name, default: 0] += 1
            return
        }
        report.outcomes["failed \(failure.kind.rawValue)", default: 0] += 1
        if Self.isFault(failure) { report.note("\(failure)", json) }
    }

    private func configure(_ config: JSON, _ report: inout FuzzReport) async {
        report.configurations += 1
        guard let plan = try? PluginPlan(bundle, config: config).limited(as: plan) else {
            report.refused += 1
            return
        }
        do {
            _ = try await PluginRig(plan, FixtureWorld(FixtureWorld.Script()))
        } catch let failure as PluginFailure {
            if Self.isFault(failure) { report.note("\(failure)", ["config": config]) }
        } catch {
            report.note("\(error)", ["config": config])
        }
    }

    /// Whether a plugin should never fail like this. An error that it raises itself is its way to refuse.
    static func isFault(_ failure: PluginFailure) -> Bool {
        switch failure.kind {
        case .runtime:
            [
                "attempt to ", "bad argument #", " takes a text, not ", "stack overflow",
                "number has no integer representation",
            ].contains {
                failure.message.contains($0)
            }
        case .permission, .breakerOpen, .cancelled, .load: false
        case .fuel, .burst, .cpu, .deadline, .memory, .badResult, .yield, .blockedFunction: true
        }
    }
}

/// Values that are unexpected in most places.
enum HostileValues {
    /// Values of every kind, at the limits of JSON.
    static let all: [JSON] = [
        .null, true, false, 0, -1, 9_007_199_254_740_993, JSON(Int64.max), JSON(Int64.min), 1e308, -0.0, 0.1, "", " ",
        "\n", "0", "null", "%s%d%%", "{{secret x}}", "'; drop table todo; --", "../../etc/passwd",
        JSON(String(repeating: "a", count: 5000)), "\u{FEFF}\u{202E}\u{1F4A9}", "e\u{301}", "2026-02-30T25:61:00Z",
        "9999-12-31T23:59:59.9999999Z", .array, .object, [.null], [[[]]], ["a": ["b": ["c": .null]]],
        JSON((0..<300).map { JSON($0) }), ["decision": "server"], ["__index": 1, "id": "2"],
    ]

    /// Returns the value with some parts replaced or removed.
    static func spoiled(_ value: JSON, using chance: inout SeededGenerator, depth: Int = 0) -> JSON {
        if depth > 0, Int.random(in: 0..<6, using: &chance) == 0 { return all.randomElement(using: &chance) ?? .null }
        if let members = value.members {
            var spoiled: [(PropertyName, JSON)] = []
            for (name, member) in members {
                switch Int.random(in: 0..<12, using: &chance) {
                case 0: continue
                case 1: spoiled.append((name, all.randomElement(using: &chance) ?? .null))
                default: spoiled.append((name, Self.spoiled(member, using: &chance, depth: depth + 1)))
                }
            }
            return JSON(members: spoiled)
        }
        if let elements = value.elements {
            return JSON(elements.map { Self.spoiled($0, using: &chance, depth: depth + 1) })
        }
        return value
    }
}

/// The result of testing a plugin with unexpected input.
public struct FuzzReport: ToolReport {
    /// A failure that no input should cause.
    public struct Finding: Sendable {
        /// The failure's message.
        public let message: String
        /// A fixture that reproduces it.
        public let fixture: JSON
        /// The number of times that it happened.
        public internal(set) var count = 1
    }

    /// The plugin's name.
    public let plugin: String
    /// The seed for repeating the run.
    public let seed: UInt64
    /// The number of calls.
    public internal(set) var calls = 0
    /// The number of configurations.
    public internal(set) var configurations = 0
    /// The number of configurations that the schema refused.
    public internal(set) var refused = 0
    /// The number of times that each outcome occurred: the name of an answer, or `failed KIND`.
    public internal(set) var outcomes: [String: Int] = [:]
    /// The failures found, each message once.
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

    /// The failures found, each with a fixture that reproduces it.
    public var lines: [String] {
        let counts = outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return [
            "# \(plugin), seed \(seed): \(calls.counted("call")) (\(counts)), \(configurations.counted("configuration")), "
                + "\(refused) refused by the schema"
        ] + findings.flatMap { ["\($0.message) (\($0.count.counted("time")))", "  \($0.fixture)"] }
            + [findings.isEmpty ? "nothing found" : "\(findings.count) found"]
    }

    /// The report as JSON.
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
