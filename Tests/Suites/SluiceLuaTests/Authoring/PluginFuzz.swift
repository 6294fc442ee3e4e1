import SluiceCore

@testable import SluiceLua
@testable import SluicePluginTools

/// Gives a plugin what nobody expects: records with wrong values, odd requests and answers, hostile configurations.
///
/// It begins with the plugin's fixtures and spoils them. A plugin may answer as it likes, and may refuse with an error
/// of its own. What it should never do is run into one of Lua's (`attempt to index a nil value`), use up its fuel or
/// memory, or return what its hook may not return: those are found.
struct PluginFuzz: Sendable {
    private let bundle: PluginBundle
    /// Tables whose columns are declared: conflicts get records of theirs too.
    var tables: [TableSchema] = []
    /// What a deployment makes of the plugin, where its limits and its configuration are to count.
    var plan: PluginPlan?
    /// What chance begins with.
    var seed: UInt64 = 1
    /// How many calls.
    var calls = 500
    /// How many configurations.
    var configurations = 200

    /// A trial of a bundle.
    init(_ bundle: PluginBundle) { self.bundle = bundle }

    /// Tries.
    func run() async -> FuzzReport {
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

    /// The fixture with what it gives spoiled, and nothing expected.
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

    /// Records and bodies are the world's, and are spoiled; of the rest the engine sees to it that it is as it should
    /// be.
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

    /// A record stays one: an object with its id.
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

    /// Whether a plugin should not fail so, whatever it is given. An error that it raises itself is its way to refuse.
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

/// Values that nobody expects where they stand.
enum HostileValues {
    /// Values of every kind, at the edges of what JSON can say.
    static let all: [JSON] = [
        .null, true, false, 0, -1, 9_007_199_254_740_993, JSON(Int64.max), JSON(Int64.min), 1e308, -0.0, 0.1, "", " ",
        "\n", "0", "null", "%s%d%%", "{{secret x}}", "'; drop table todo; --", "../../etc/passwd",
        JSON(String(repeating: "a", count: 5000)), "\u{FEFF}\u{202E}\u{1F4A9}", "e\u{301}", "2026-02-30T25:61:00Z",
        "9999-12-31T23:59:59.9999999Z", .array, .object, [.null], [[[]]], ["a": ["b": ["c": .null]]],
        JSON((0..<300).map { JSON($0) }), ["decision": "server"], ["__index": 1, "id": "2"],
    ]

    /// The value with one or more parts of it replaced, taken away or added.
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

/// What came of giving a plugin what nobody expects.
struct FuzzReport: ToolReport {
    /// Something that a plugin should not do, whatever it is given.
    struct Finding: Sendable {
        /// What happened.
        let message: String
        /// The fixture that shows it.
        let fixture: JSON
        /// How often it happened.
        var count = 1
    }

    /// The plugin.
    let plugin: String
    /// The seed with which all of it can be tried again.
    let seed: UInt64
    /// How many calls were made.
    var calls = 0
    /// How many configurations were tried, and how many of them the schema refused.
    var configurations = 0
    /// How many of those the schema refused.
    var refused = 0
    /// How often each outcome was seen: the name of an answer, or `failed KIND`.
    var outcomes: [String: Int] = [:]
    /// What was found, each kind once.
    var findings: [Finding] = []

    init(plugin: String, seed: UInt64) {
        self.plugin = plugin
        self.seed = seed
    }

    /// Whether nothing was found.
    var isGood: Bool { findings.isEmpty }

    mutating func note(_ message: String, _ fixture: JSON) {
        if let index = findings.firstIndex(where: { $0.message == message }) {
            findings[index].count += 1
        } else if findings.count < 50 {
            findings.append(Finding(message: message, fixture: fixture))
        }
    }

    /// What was found, each with the fixture that shows it.
    var lines: [String] {
        let counts = outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return [
            "# \(plugin), seed \(seed): \(calls.counted("call")) (\(counts)), \(configurations.counted("configuration")), "
                + "\(refused) refused by the schema"
        ] + findings.flatMap { ["\($0.message) (\($0.count.counted("time")))", "  \($0.fixture)"] }
            + [findings.isEmpty ? "nothing found" : "\(findings.count) found"]
    }

    /// The same for a program.
    var json: JSON {
        [
            "plugin": JSON(plugin), "seed": JSON("\(seed)"), "calls": JSON(calls),
            "configurations": JSON(configurations), "refused": JSON(refused),
            "outcomes": JSON(members: outcomes.sorted { $0.key < $1.key }.map { ($0.key, JSON($0.value)) }),
            "findings": JSON(
                findings.map { ["message": JSON($0.message), "count": JSON($0.count), "fixture": $0.fixture] }),
        ]
    }
}
