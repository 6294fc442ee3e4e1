internal import SluiceCore

/// The condition for a plugin's hook: tables, methods, statuses and more. A hook is skipped if its match fails.
///
/// All given conditions have to hold; a condition with several values holds if one of them does. A match without
/// conditions always holds. A condition on an unknown value does not hold, such as the status of an answer that has
/// not come, or the table of a request without one.
///
/// ```json
/// {"tables": ["todo*"], "methods": ["PATCH"], "kinds": ["update"], "status": [412, "5xx"],
///  "hosts": ["*.example.net"], "deployment": {"ring": ["canary", "beta"]}, "fields_changed": ["title"],
///  "sample": 0.1}
/// ```
public struct Match: Sendable, Hashable {
    /// The maximum number of values of a condition.
    static let maximumValues = 64
    /// The match that always holds.
    static let all = Match(MatchRules())

    /// The rules by reference, so that a copy costs little: matches are checked for every request and record.
    private final class Box: Sendable, Hashable {
        let rules: MatchRules
        init(_ rules: MatchRules) { self.rules = rules }
        static func == (left: Box, right: Box) -> Bool { left === right || left.rules == right.rules }
        func hash(into hasher: inout Hasher) { hasher.combine(rules) }
    }
    private let box: Box

    private init(_ rules: MatchRules) { box = Box(rules) }

    /// A match.
    ///
    /// - Parameters:
    ///   - tables: Names of tables, with `*` for any characters and `?` for one.
    ///   - methods: HTTP methods.
    ///   - kinds: Actions.
    ///   - status: Statuses of the answer: `412`, or `5xx` for the whole class.
    ///   - hosts: Names of hosts, with `*` and `?` as in tables, in any case.
    ///   - deployment: Labels of the deployment. It must have all of them, each with one of the values.
    ///   - fieldsChanged: Names of fields, with `*` and `?`. The change must touch one of them.
    ///   - sample: The share of records, from 0 to 1.
    /// - Throws: ``SluiceError`` of code `invalidArgument` for more than ``maximumValues`` values in a condition, one
    ///   of more than 128 bytes, and for an invalid method, status or share.
    init(
        tables: [String] = [], methods: [String] = [], kinds: [SyncRequest.Context.Action] = [], status: [String] = [],
        hosts: [String] = [], deployment: [String: [String]] = [:], fieldsChanged: [String] = [],
        sample: Double? = nil
    ) throws(SluiceError) {
        var rules = MatchRules()
        rules.tables = try Self.globs(tables, .tables)
        for method in try Self.bounded(methods, .methods) {
            let method = method.uppercased()
            guard Self.methods.contains(method) else {
                throw Self.refusal(.methods, "expected one of \(Self.methods.joined(separator: ", "))")
            }
            rules.methods.append(method)
        }
        rules.kinds = kinds
        for text in try Self.bounded(status, .status) {
            guard let pattern = StatusPattern(text) else {
                throw Self.refusal(.status, "expected a status such as 412, or a class of them such as 5xx")
            }
            rules.status.append(pattern)
        }
        rules.hosts = try Self.globs(hosts.map { $0.lowercased() }, .hosts)
        for (label, values) in try Self.bounded(deployment, .deployment) {
            rules.labels[label] = try Self.globs(values, .deployment)
        }
        rules.fields = try Self.globs(fieldsChanged, .fieldsChanged)
        if let sample {
            guard (0...1).contains(sample) else { throw Self.refusal(.sample, "expected a share from 0 to 1") }
            rules.share = sample
        }
        box = Box(rules)
    }

    static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    private static func globs(_ texts: [String], _ condition: MatchCondition) throws(SluiceError) -> [Glob] {
        var globs: [Glob] = []
        for text in try bounded(texts, condition) {
            guard let glob = Glob(text) else {
                throw refusal(condition, "expected a pattern of 1 to \(Glob.maximumLength) bytes")
            }
            globs.append(glob)
        }
        return globs
    }

    private static func bounded<Values: Collection>(
        _ values: Values, _ condition: MatchCondition
    ) throws(SluiceError) -> Values {
        guard values.count <= maximumValues else {
            throw refusal(condition, "expected at most \(maximumValues) values, found \(values.count)")
        }
        return values
    }

    private static func refusal(_ condition: MatchCondition, _ reason: String) -> SluiceError {
        SluiceError(.invalidArgument, "match \(condition.rawValue): \(reason)")
    }

    /// Returns the same match, except for those tables.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for too many names, or one that is too long.
    func excluding(tables: [String]) throws(SluiceError) -> Match {
        guard !tables.isEmpty else { return self }
        var rules = box.rules
        rules.excluded = try Self.globs(rules.excluded.map(\.text) + tables, .tables)
        return Match(rules)
    }

    /// Returns the same match in a deployment with those labels, which decides its conditions on the deployment once.
    func bound(to labels: [String: String]) -> Match {
        guard !box.rules.labels.isEmpty else { return self }
        var rules = box.rules
        let holds = rules.labels.allSatisfy { name, values in
            labels[name].map { label in values.contains { $0.matches(label) } } ?? false
        }
        rules.labels = [:]
        rules.isNever = rules.isNever || !holds
        return Match(rules)
    }

    /// The same match without its conditions on the answer, for use before the request is sent.
    var beforeAnswer: Match {
        guard !box.rules.status.isEmpty else { return self }
        var rules = box.rules
        rules.status = []
        return Match(rules)
    }

    /// The kinds of conditions in the match.
    package var conditions: Set<MatchCondition> { box.rules.conditions }

    /// Whether the match can hold at all. It cannot if it was bound to another deployment.
    var isPossible: Bool { !box.rules.isNever }

    /// Whether all conditions hold.
    package func matches(_ subject: MatchSubject) -> Bool { box.rules.matches(subject) }

    /// Whether the match can hold for something of that table, apart from its other conditions.
    package func isFor(table: String) -> Bool { box.rules.isFor(table: table) }

    /// The narrowness of the match: more for names of tables than for patterns of names, more for each condition. Of
    /// two conflict handlers the narrower one is asked first.
    package var specificity: Int {
        let tables = box.rules.tables
        let forTables = tables.isEmpty ? 0 : tables.allSatisfy(\.isExact) ? 20 : 10
        return forTables + conditions.subtracting([.tables]).count
    }
}

extension Match: CustomStringConvertible {
    /// The conditions, for a person: `tables todo*; methods POST, PATCH`; empty for a match that always holds.
    public var description: String { box.rules.description }
}

/// The conditions of a ``Match``, by their names in manifests and policies.
public enum MatchCondition: String, Sendable, Hashable, CaseIterable {
    /// The table's name.
    case tables
    /// The HTTP method.
    case methods
    /// The action: ``SyncRequest.Context/Action``.
    case kinds
    /// The status of the answer.
    case status
    /// The host of the request.
    case hosts
    /// A label of the deployment.
    case deployment
    /// A field that the change touches.
    case fieldsChanged = "fields_changed"
    /// A share of all records.
    case sample
}
