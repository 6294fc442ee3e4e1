public import SluiceCore
internal import SluiceLua

/// What was found out about a conflict handler by playing made-up conflicts with it.
public struct ConvergenceReport: ToolReport {
    /// What a handler is asked to be.
    public enum Claim: String, Sendable, Hashable, CaseIterable {
        /// The same conflict gets the same answer, each time and in each machine.
        case deterministic
        /// Two equal records are merged to that record.
        case idempotent
        /// Replicas that push and pull come to rest.
        case terminates
        /// What only one side changed is in what comes of it.
        case keepsFields = "keeps_fields"
        /// An edit that had arrived already, unanswered, is not added again.
        case countsOnce = "counts_once"
        /// In the end all replicas and the server hold the same.
        case endsEqual = "ends_equal"
        /// It answers, and does not fail.
        case answers
    }

    /// The plugin.
    public let plugin: String
    /// The seed with which all of it can be played again.
    public let seed: UInt64
    /// How many single conflicts were decided.
    public internal(set) var conflicts = 0
    /// How many stories of several replicas were played.
    public internal(set) var stories = 0
    /// How often each decision was made.
    public internal(set) var decisions: [String: Int] = [:]
    /// How many stories ended with a change that is left to someone.
    public internal(set) var held = 0
    /// The first example against each claim, and how many there are.
    public internal(set) var broken: [Claim: (count: Int, example: String)] = [:]
    /// Whether fields may be lost, because the policy is that one side wins.
    public let allowsLoss: Bool
    /// The fields that may be lost, with the reason, and how often each was.
    public private(set) var exempt: [PropertyName: (reason: String, count: Int)]

    init(plugin: String, seed: UInt64, allowsLoss: Bool, exempt: [PropertyName: String] = [:]) {
        self.plugin = plugin
        self.seed = seed
        self.allowsLoss = allowsLoss
        self.exempt = exempt.mapValues { ($0, 0) }
    }

    /// Counts those of the fields that may be lost.
    mutating func spare(_ names: [PropertyName]) { for name in names { exempt[name]?.count += 1 } }

    mutating func note(_ claim: Claim, _ example: @autoclosure () -> String) {
        if let there = broken[claim] {
            broken[claim] = (there.count + 1, there.example)
        } else {
            broken[claim] = (1, example())
        }
    }

    /// Whether every claim holds.
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

    /// The same for a program.
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
