/// What a link of a chain is for: tables, methods, statuses and more. A link whose match fails is not entered.
///
/// All conditions that are given have to hold; a condition with several values holds if one of them does. A match
/// without conditions holds always. Where a condition asks for what is not known (the status of an answer that has not
/// come, the table of a request that has none) it does not hold.
///
/// ```swift
/// let match = try Match(tables: ["todo*"], methods: ["POST", "PATCH"], sample: 0.1)
/// ```
public struct Match: Sendable, Hashable {
    /// How many values a condition may have.
    public static let maximumValues = 64
    /// The match that holds always.
    public static let all = Match()

    /// What the match asks for.
    public private(set) var conditions: Set<MatchCondition> = []

    private var isAll = true
    private var isNever = false
    private var tables: [Glob] = []
    private var excluded: [Glob] = []
    private var methods: [String] = []
    private var kinds: [RequestContext.Action] = []
    private var status: [StatusPattern] = []
    private var hosts: [Glob] = []
    private var labels: [String: [Glob]] = [:]
    private var fields: [Glob] = []
    private var share: Double?

    private init() {}

    /// A match.
    ///
    /// - Parameters:
    ///   - tables: Names of tables, in which `*` stands for any characters and `?` for one.
    ///   - methods: HTTP methods.
    ///   - kinds: What is done.
    ///   - status: Statuses of the answer: `412`, or `5xx` for all of the five hundreds.
    ///   - hosts: Names of hosts, with `*` and `?` as in tables, whatever the case.
    ///   - deployment: Labels of the deployment, all of which it must have, with one of those values each.
    ///   - fieldsChanged: Names of fields, with `*` and `?`, of which the change touches one.
    ///   - sample: The share of records, from 0 to 1.
    /// - Throws: ``SluiceError`` of code `invalidArgument` for more than ``maximumValues`` values in a condition, one of
    ///   more than 128 bytes, and what is no method, status or share.
    public init(
        tables: [String] = [], methods: [String] = [], kinds: [RequestContext.Action] = [], status: [String] = [],
        hosts: [String] = [], deployment: [String: [String]] = [:], fieldsChanged: [String] = [],
        sample: Double? = nil
    ) throws(SluiceError) {
        self.tables = try Self.globs(tables, .tables)
        for method in try Self.bounded(methods, .methods) {
            let method = method.uppercased()
            guard Self.methods.contains(method) else {
                throw Self.refusal(.methods, "expected one of \(Self.methods.joined(separator: ", "))")
            }
            self.methods.append(method)
        }
        self.kinds = kinds
        for text in try Self.bounded(status, .status) {
            guard let pattern = StatusPattern(text) else {
                throw Self.refusal(.status, "expected a status such as 412, or a class of them such as 5xx")
            }
            self.status.append(pattern)
        }
        self.hosts = try Self.globs(hosts.map { $0.lowercased() }, .hosts)
        for (label, values) in try Self.bounded(deployment, .deployment) {
            labels[label] = try Self.globs(values, .deployment)
        }
        fields = try Self.globs(fieldsChanged, .fieldsChanged)
        if let sample {
            guard (0...1).contains(sample) else { throw Self.refusal(.sample, "expected a share from 0 to 1") }
            share = sample
        }
        for (condition, isGiven) in [
            (MatchCondition.tables, !tables.isEmpty), (.methods, !methods.isEmpty), (.kinds, !kinds.isEmpty),
            (.status, !status.isEmpty), (.hosts, !hosts.isEmpty), (.deployment, !deployment.isEmpty),
            (.fieldsChanged, !fieldsChanged.isEmpty), (.sample, sample != nil),
        ] where isGiven {
            conditions.insert(condition)
        }
        isAll = conditions.isEmpty
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

    /// The same match, but for those tables.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for too many names, or one that is too long.
    public func excluding(tables: [String]) throws(SluiceError) -> Match {
        guard !tables.isEmpty else { return self }
        var match = self
        match.excluded = try Self.globs(excluded.map(\.text) + tables, .tables)
        match.isAll = false
        return match
    }

    /// The same match in a deployment with those labels: what it asks of the deployment is decided once.
    public func bound(to labels: [String: String]) -> Match {
        guard !self.labels.isEmpty else { return self }
        var match = self
        match.labels = [:]
        match.conditions.remove(.deployment)
        let holds = self.labels.allSatisfy { name, values in
            labels[name].map { label in values.contains { $0.matches(label) } } ?? false
        }
        match.isNever = isNever || !holds
        match.isAll = match.conditions.isEmpty && excluded.isEmpty && !match.isNever
        return match
    }

    /// The same match without what it asks of the answer, as far as it is known before the request is sent.
    public var beforeAnswer: Match {
        guard !status.isEmpty else { return self }
        var match = self
        match.status = []
        match.conditions.remove(.status)
        match.isAll = match.conditions.isEmpty && excluded.isEmpty && !isNever
        return match
    }

    /// Whether the match can hold at all: not if it was bound to a deployment that it is not for.
    public var isPossible: Bool { !isNever }

    /// Whether all conditions hold.
    public func matches(_ subject: MatchSubject) -> Bool {
        if isAll { return true }
        if isNever || !labels.isEmpty { return false }
        if !kinds.isEmpty, !(subject.kind.map(kinds.contains) ?? false) { return false }
        if !methods.isEmpty, !(subject.method.map(methods.contains) ?? false) { return false }
        if !tables.isEmpty, !Self.holds(tables, subject.table) { return false }
        if !excluded.isEmpty, Self.holds(excluded, subject.table) { return false }
        if !status.isEmpty {
            guard let code = subject.status, status.contains(where: { $0.matches(code) }) else { return false }
        }
        if !hosts.isEmpty, !Self.holds(hosts, subject.authority.map(Self.host)) { return false }
        if !fields.isEmpty {
            guard let changed = subject.fieldsChanged, changed.contains(where: { Self.holds(fields, $0) }) else {
                return false
            }
        }
        if let share {
            guard let key = subject.sampleKey, Self.draw(key) < share else { return false }
        }
        return true
    }

    private static func holds(_ globs: [Glob], _ name: String?) -> Bool {
        guard let name else { return false }
        return globs.contains { $0.matches(name) }
    }

    /// The host of an authority, without the port and in small letters.
    private static func host(_ authority: String) -> String {
        let host = authority.lowercased()
        if host.hasPrefix("[") { return String(host.dropFirst().prefix { $0 != "]" }) }
        return String(host.prefix { $0 != ":" })
    }

    /// A number from 0 up to but not 1 that is the key's on every device.
    private static func draw(_ key: String) -> Double {
        var hash = FNV1a.hash(key.utf8)
        // The last bytes of a text reach the high bits of FNV-1a badly; these steps (of SplitMix64) spread them.
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        hash ^= hash >> 31
        return Double(hash >> 11) * 0x1p-53
    }

    /// How narrow the match is: more for names of tables than for patterns of names, more for each condition. Of two
    /// conflict handlers the narrower one is asked first.
    public var specificity: Int {
        let forTables = tables.isEmpty ? 0 : tables.allSatisfy(\.isExact) ? 20 : 10
        return forTables + conditions.subtracting([.tables]).count
    }
}

extension Match: CustomStringConvertible {
    /// The conditions, as a person reads them: `tables todo*; methods POST, PATCH`; empty for a match that holds always.
    public var description: String {
        if isNever { return "not in this deployment" }
        var parts: [String] = []
        func add(_ name: String, _ values: [String]) {
            if !values.isEmpty { parts.append("\(name) \(values.joined(separator: ", "))") }
        }
        add("tables", tables.map(\.text))
        add("not tables", excluded.map(\.text))
        add("methods", methods)
        add("kinds", kinds.map(\.rawValue))
        add("status", status.map(\.text))
        add("hosts", hosts.map(\.text))
        for (label, values) in labels.sorted(by: { $0.key < $1.key }) { add("label \(label)", values.map(\.text)) }
        add("fields_changed", fields.map(\.text))
        if let share { add("sample", [String(share)]) }
        return parts.joined(separator: "; ")
    }
}
