public import SluiceBase

/// The condition for a link of a chain: tables, methods, statuses and more. A link is skipped if its match fails.
///
/// All given conditions have to hold; a condition with several values holds if one of them does. A match without
/// conditions always holds. A condition on an unknown value does not hold, such as the status of an answer that has
/// not come, or the table of a request without one.
///
/// ```swift
/// let match = try Match(tables: ["todo*"], methods: ["POST", "PATCH"], sample: 0.1)
/// ```
public struct Match: Sendable, Hashable {
    /// The maximum number of values of a condition.
    public static let maximumValues = 64
    /// The match that always holds.
    public static let all = Match(MatchRules())

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
    public init(
        tables: [String] = [], methods: [String] = [], kinds: [RequestContext.Action] = [], status: [String] = [],
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
    public func excluding(tables: [String]) throws(SluiceError) -> Match {
        guard !tables.isEmpty else { return self }
        var rules = box.rules
        rules.excluded = try Self.globs(rules.excluded.map(\.text) + tables, .tables)
        return Match(rules)
    }

    /// Returns the same match in a deployment with those labels, which decides its conditions on the deployment once.
    public func bound(to labels: [String: String]) -> Match {
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
    public var beforeAnswer: Match {
        guard !box.rules.status.isEmpty else { return self }
        var rules = box.rules
        rules.status = []
        return Match(rules)
    }

    /// The same match for all records, without its sample.
    var ofAllRecords: Match {
        guard box.rules.share != nil else { return self }
        var rules = box.rules
        rules.share = nil
        return Match(rules)
    }

    /// The kinds of conditions in the match.
    public var conditions: Set<MatchCondition> { box.rules.conditions }

    /// Whether the match can hold at all. It cannot if it was bound to another deployment.
    public var isPossible: Bool { !box.rules.isNever }

    /// Whether the match depends on the name of the table.
    var looksAtTables: Bool { !box.rules.tables.isEmpty || !box.rules.excluded.isEmpty }

    /// Whether all conditions hold.
    public func matches(_ subject: MatchSubject) -> Bool { box.rules.matches(subject) }

    /// Whether the match can hold for something of that table, apart from its other conditions.
    public func isFor(table: String) -> Bool { box.rules.isFor(table: table) }

    /// The narrowness of the match: more for names of tables than for patterns of names, more for each condition. Of
    /// two conflict handlers the narrower one is asked first.
    public var specificity: Int {
        let tables = box.rules.tables
        let forTables = tables.isEmpty ? 0 : tables.allSatisfy(\.isExact) ? 20 : 10
        return forTables + conditions.subtracting([.tables]).count
    }
}

extension Match: CustomStringConvertible {
    /// The conditions, for a person: `tables todo*; methods POST, PATCH`; empty for a match that always holds.
    public var description: String { box.rules.description }
}

extension Match {
    /// A match in the form of manifests.
    ///
    /// ```json
    /// {"tables": ["todo*"], "methods": ["PATCH"], "kinds": ["update"], "status": [412, "5xx"],
    ///  "hosts": ["*.example.net"], "deployment": {"ring": ["canary", "beta"]}, "fields_changed": ["title"],
    ///  "sample": 0.1}
    /// ```
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the JSON pointer, the expected and the found
    ///   value; for an unknown condition the nearest known one.
    public init(json: JSON, at pointer: String = "") throws(SluiceError) {
        try self.init(JSONPlace(json, in: "match", at: pointer))
    }

    /// A match at its place in a document, which may only use the allowed conditions.
    package init(_ place: JSONPlace, allowed: [MatchCondition] = MatchCondition.allCases) throws(SluiceError) {
        let members = try place.members(MatchCondition.allCases.map(\.rawValue))
        for condition in MatchCondition.allCases {
            guard let place = members[condition.rawValue], !allowed.contains(condition) else { continue }
            let names = allowed.map(\.rawValue).joined(separator: ", ")
            throw place.refusal("not known here; a match may ask for \(names.isEmpty ? "nothing" : names)")
        }
        func list(_ condition: MatchCondition) throws(SluiceError) -> [String] {
            guard let place = members[condition.rawValue] else { return [] }
            return try Self.texts(place, condition)
        }
        var labels: [String: [String]] = [:]
        for (name, place) in try members["deployment"]?.entries(upTo: Self.maximumValues) ?? [] {
            labels[name] = try Self.texts(place, .deployment)
        }
        var share: Double?
        if let sample = members["sample"] {
            guard let number = sample.value.double, (0...1).contains(number) else {
                throw sample.expected("a number from 0 to 1")
            }
            share = number
        }
        try self.init(
            tables: list(.tables), methods: list(.methods),
            kinds: list(.kinds).compactMap(RequestContext.Action.init), status: list(.status), hosts: list(.hosts),
            deployment: labels, fieldsChanged: list(.fieldsChanged), sample: share)
    }

    /// Returns a text or a list of texts. Each is checked here, so that a refusal names its place.
    private static func texts(_ place: JSONPlace, _ condition: MatchCondition) throws(SluiceError) -> [String] {
        let single = place.value.kind == .string || condition == .status && place.value.kind == .number
        let places = single ? [place] : try place.elements(upTo: maximumValues)
        guard !places.isEmpty else { throw place.expected("at least one") }
        var texts: [String] = []
        for place in places {
            switch condition {
            case .methods: texts.append(try place.choice(of: methods))
            case .kinds: texts.append(try place.choice(of: RequestContext.Action.allCases.map(\.rawValue)))
            case .status:
                let text = place.value.int.map { String($0) } ?? place.value.string ?? ""
                guard StatusPattern(text) != nil else {
                    throw place.expected("a status such as 412, or a class of them such as \"5xx\"")
                }
                texts.append(text)
            case .tables, .hosts, .deployment, .fieldsChanged, .sample:
                let text = try place.text(upTo: Glob.maximumLength)
                guard Glob(text) != nil else { throw place.expected("a name or a pattern, without control characters") }
                texts.append(text)
            }
        }
        return texts
    }
}
