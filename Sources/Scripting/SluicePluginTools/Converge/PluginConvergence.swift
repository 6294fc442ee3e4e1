public import SluiceCore
public import SluiceLua

/// Tests a plugin's `on_conflict` with generated conflicts: single ones, and stories of a few replicas that edit one
/// record and push in any order. Equal seeds generate equal conflicts.
public struct PluginConvergence: Sendable {
    private let bundle: PluginBundle
    /// The configuration; nil for the one of ``plan``, or without a plan for the first conflict fixture's.
    public var config: JSON?
    /// The deployment's plan, if its limits and its configuration have to apply.
    public var plan: PluginPlan?
    /// The table whose columns the records have; nil for fields and values from the fixtures.
    public var schema: TableSchema?
    /// The wire protocol of the server: it defines the fields of a record that only the server sets.
    public var dialect: Dialect = .azureV2
    /// The seed of the generator.
    public var seed: UInt64 = 1
    /// The number of single conflicts.
    public var conflicts = 300
    /// The number of stories, with two to four replicas each.
    public var stories = 150
    /// Whether fields may be lost, because one side always wins by policy.
    public var allowsLoss = false
    /// Fields that may lose one side's change, each with the reason: `max`, for example, loses the smaller value.
    public var exempt: [PropertyName: String] = [:]

    /// Creates a test of a bundle's handler.
    public init(_ bundle: PluginBundle) { self.bundle = bundle }

    /// Runs the test.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if there is no handler or no source of records, if the
    ///   configuration does not fit, or if no record has an exempt field.
    public func run() async throws -> ConvergenceReport {
        guard let source = schema.map(ConflictSource.init) ?? ConflictSource(bundle, dialect) else {
            throw SluiceError(
                .invalidArgument,
                "\(bundle.location): no fixture has a conflict with fields to make records of; give a table's columns")
        }
        if let stranger = exempt.keys.sorted().first(where: { !source.names.contains($0) }) {
            throw SluiceError(
                .invalidArgument,
                "\(bundle.location): \(stranger) is exempt, and no field of the records, which have "
                    + source.names.map(\.text).joined(separator: ", "))
        }
        let fixtures = bundle.fixtures.compactMap { try? bundle.fixture(at: $0) }
        let plan: PluginPlan
        if config == nil, let deployed = self.plan {
            plan = deployed.tried()
        } else {
            let config = config ?? fixtures.first { $0.hook == .onConflict }?.config ?? .object
            plan = try PluginPlan(bundle, config: config).limited(as: self.plan)
        }
        // No time in a record may be in the future of its world.
        var world = FixtureWorld.Script()
        world.clock = fixtures.filter { $0.hook == .onConflict }.map(\.world.clock).max() ?? world.clock
        world.secrets = fixtures.first { !$0.world.secrets.isEmpty }?.world.secrets ?? [:]
        let judge = try await judge(plan, source.table, world)
        let second = try await self.judge(plan, source.table, world)
        var report = ConvergenceReport(
            plugin: self.plan?.name ?? bundle.manifest.name, seed: seed, allowsLoss: allowsLoss, exempt: exempt)
        var chance = SeededGenerator(seed: seed)
        for _ in 0..<conflicts {
            await decide(triple(source, &chance), judge, second, &report)
        }
        for _ in 0..<stories {
            let count = Int.random(in: 2...4, using: &chance)
            var story = ReplicaRun(
                source, dialect: dialect, replicas: count, chance: SeededGenerator(seed: chance.next()))
            await story.play(judge)
            report.stories += 1
            if let failure = story.failure { report.note(.answers, "\(failure)") }
            for example in story.doubled { report.note(.countsOnce, example) }
            if story.isHeld { report.held += 1 }
            if story.isUnfinished { report.note(.terminates, story.words) }
            if !story.isEqual { report.note(.endsEqual, story.words) }
        }
        return report
    }

    private func judge(_ plan: PluginPlan, _ table: String, _ world: FixtureWorld.Script) async throws -> ConflictJudge
    {
        guard let hook = plan.hooks[.onConflict] else {
            throw SluiceError(.invalidArgument, "\(bundle.location): the plugin has no hook on_conflict")
        }
        do {
            let rig = try await PluginRig(plan, FixtureWorld(world))
            let check = RecordCheck(dialect: dialect, schema: schema).of(plan, table: table)
            return ConflictJudge(rig: rig, hook: hook, check: check)
        } catch let failure as PluginFailure {
            throw SluiceError(.invalidArgument, "\(failure)", cause: failure)
        }
    }

    /// Returns a conflict of a base and two edits of it.
    private func triple(_ source: ConflictSource, _ chance: inout SeededGenerator) -> Conflict {
        var base = source.record("1", using: &chance)
        base[dialect.columns.version] = "v1"
        let client = source.edited(base, using: &chance)
        // An earlier send may be unanswered; then the server's record may or may not have the edit.
        let isUncertain = Int.random(in: 0..<6, using: &chance) == 0
        let isApplied = isUncertain && Bool.random(using: &chance)
        var server = source.edited(isApplied ? client : base, using: &chance)
        if !isUncertain, Int.random(in: 0..<10, using: &chance) == 0 { server = client }
        server[dialect.columns.version] = "v2"
        server[dialect.columns.updatedAt] = JSON(FixtureWorld.begin.description)
        let time = FixtureWorld.begin.advanced(by: .seconds(Int.random(in: -60...60, using: &chance)))
        var operation = TableOperation(
            id: "op-1", sequence: 1, table: source.table, recordID: "1", kind: .update, createdAt: time)
        operation.attempts = 1
        return Conflict(
            operation: operation, client: client, server: server, base: base, maybeApplied: isUncertain, status: 412,
            isDeletedOnServer: false)
    }

    private func decide(
        _ conflict: Conflict, _ judge: ConflictJudge, _ second: ConflictJudge, _ report: inout ConvergenceReport
    ) async {
        let answer = await judge.answer(conflict)
        report.conflicts += 1
        report.decisions[answer.name, default: 0] += 1
        if let failure = answer.failure {
            return report.note(.answers, "\(failure) for \(Self.words(conflict))")
        }
        for other in [await judge.answer(conflict), await second.answer(conflict)] where other.raw != answer.raw {
            report.note(
                .deterministic,
                "\(Self.words(conflict)): \(FixtureComparison.words(answer.raw)), then \(FixtureComparison.words(other.raw))"
            )
            break
        }
        guard let client = conflict.client, let server = conflict.server, let base = conflict.base else { return }
        guard let result = answer.decision?.record(in: conflict) else { return }
        if conflict.maybeApplied, let doubled = Self.doubled(conflict, result) { report.note(.countsOnce, doubled) }
        func own(_ record: JSON) -> [PropertyName] {
            record.names.filter { $0 != "id" && !dialect.isSystemProperty($0) }
        }
        let names =
            own(base) + own(client).filter { base[$0] == nil }
            + own(server).filter { base[$0] == nil && client[$0] == nil }
        if names.allSatisfy({ client[$0] == server[$0] }) {
            if !names.allSatisfy({ result[$0] == client[$0] }) {
                report.note(.idempotent, "\(Self.words(conflict)): \(FixtureComparison.words(result))")
            }
            return
        }
        let lost = names.filter { name in
            let (isMine, isTheirs) = (client[name] != base[name], server[name] != base[name])
            return isMine != isTheirs && result[name] != (isMine ? client[name] : server[name])
        }
        report.spare(lost)
        let unexcused = lost.filter { exempt[$0] == nil }
        if !unexcused.isEmpty {
            report.note(
                .keepsFields,
                "\(unexcused.map(\.text).joined(separator: ", ")) of \(Self.words(conflict)): \(FixtureComparison.words(result))"
            )
        }
    }

    /// Describes a number to which the edit was added although the server may have it already; nil if there is none.
    static func doubled(_ conflict: Conflict, _ result: JSON) -> String? {
        guard let client = conflict.client, let server = conflict.server, let base = conflict.base else { return nil }
        let name = client.names.first { name in
            guard let mine = client[name]?.double, let theirs = server[name]?.double, let before = base[name]?.double,
                mine != before, theirs != before, let found = result[name]?.double
            else { return false }
            return found == theirs + (mine - before) && found != mine && found != theirs
        }
        return name.map { "\($0) of \(words(conflict)): \(FixtureComparison.words(result))" }
    }

    static func words(_ conflict: Conflict) -> String {
        let sides = [("client", conflict.client), ("server", conflict.server), ("base", conflict.base)]
        return sides.map { "\($0) \(FixtureComparison.words($1))" }.joined(separator: ", ")
    }
}

/// The result of testing a conflict handler with generated conflicts.
public struct ConvergenceReport: ToolReport {
    /// A property that a handler should have.
    public enum Claim: String, Sendable, Hashable, CaseIterable {
        /// The same conflict gets the same answer, each time and in each machine.
        case deterministic
        /// Two equal records are merged to that record.
        case idempotent
        /// Replicas that push and pull come to rest.
        case terminates
        /// The result contains every change that only one side made.
        case keepsFields = "keeps_fields"
        /// An edit that had arrived, but was not answered, is not added again.
        case countsOnce = "counts_once"
        /// In the end all replicas and the server have the same record.
        case endsEqual = "ends_equal"
        /// The handler answers and does not fail.
        case answers
    }

    /// The plugin's name.
    public let plugin: String
    /// The seed for repeating the run.
    public let seed: UInt64
    /// The number of single conflicts.
    public internal(set) var conflicts = 0
    /// The number of stories of several replicas.
    public internal(set) var stories = 0
    /// The number of times that each decision was made.
    public internal(set) var decisions: [String: Int] = [:]
    /// The number of stories that ended with a held change.
    public internal(set) var held = 0
    /// The first counterexample of each claim, and their number.
    public internal(set) var broken: [Claim: (count: Int, example: String)] = [:]
    /// Whether fields may be lost, because one side always wins by policy.
    public let allowsLoss: Bool
    /// The fields that may be lost, with the reason and the number of losses.
    public private(set) var exempt: [PropertyName: (reason: String, count: Int)]

    init(plugin: String, seed: UInt64, allowsLoss: Bool, exempt: [PropertyName: String] = [:]) {
        self.plugin = plugin
        self.seed = seed
        self.allowsLoss = allowsLoss
        self.exempt = exempt.mapValues { ($0, 0) }
    }

    /// Counts losses of exempt fields.
    mutating func spare(_ names: [PropertyName]) { for name in names { exempt[name]?.count += 1 } }

    mutating func note(_ claim: Claim, _ example: @autoclosure () -> String) {
        if let there = broken[claim] {
            broken[claim] = (there.count + 1, there.example)
        } else {
            broken[claim] = (1, example())
        }
    }

    /// Whether every claim holds, apart from allowed losses.
    public var isGood: Bool { broken.keys.allSatisfy { $0 == .keepsFields && allowsLoss } }

    /// A line for each claim.
    public var lines: [String] {
        let counts = decisions.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return [
            "# \(plugin), seed \(seed): \(conflicts.counted("conflict")) (\(counts)), "
                + "\(stories) \(stories == 1 ? "story" : "stories"), \(held) of them left to someone"
        ]
            + Claim.allCases.map { claim in
                guard let (count, example) = broken[claim] else { return "\(claim.words): yes" }
                return "\(claim.words): NO, \(count.counted("time")), for example \(example)"
            }
            + exempt.sorted { $0.key < $1.key }.map { name, field in
                "exempt: \(name) may be lost (\(field.reason)), and was \(field.count.counted("time"))"
            }
    }

    /// The report as JSON.
    public var json: JSON {
        [
            "plugin": JSON(plugin), "seed": JSON("\(seed)"), "conflicts": JSON(conflicts), "stories": JSON(stories),
            "held": JSON(held), "good": JSON(isGood),
            "decisions": JSON(members: decisions.sorted { $0.key < $1.key }.map { ($0.key, JSON($0.value)) }),
            "exempt": JSON(
                members: exempt.sorted { $0.key < $1.key }.map { name, field in
                    (name, ["reason": JSON(field.reason), "count": JSON(field.count)] as JSON)
                }),
            "claims": JSON(
                members: Claim.allCases.map { claim in
                    guard let (count, example) = broken[claim] else { return (claim.rawValue, ["holds": true]) }
                    return (
                        claim.rawValue, ["holds": false, "count": JSON(count), "example": JSON(example)] as JSON
                    )
                }),
        ]
    }
}

extension ConvergenceReport.Claim {
    fileprivate var words: String {
        switch self {
        case .deterministic: "deterministic"
        case .idempotent: "merges equal records to themselves"
        case .terminates: "terminates"
        case .keepsFields: "loses no field that one side changed alone"
        case .countsOnce: "adds nothing twice where an edit may have arrived"
        case .endsEqual: "replicas end equal"
        case .answers: "answers"
        }
    }
}
