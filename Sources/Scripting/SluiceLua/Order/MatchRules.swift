internal import SluiceCore

/// The conditions of a match. An empty one always holds.
struct MatchRules: Sendable, Hashable {
    /// Whether the match was bound to another deployment.
    var isNever = false
    var tables: [Glob] = []
    /// Tables that never match, regardless of the other conditions.
    var excluded: [Glob] = []
    var methods: [String] = []
    var kinds: [SyncRequest.Context.Action] = []
    var status: [StatusPattern] = []
    var hosts: [Glob] = []
    var labels: [String: [Glob]] = [:]
    var fields: [Glob] = []
    var share: Double?

    var conditions: Set<MatchCondition> {
        let given: [(MatchCondition, Bool)] = [
            (.tables, !tables.isEmpty), (.methods, !methods.isEmpty), (.kinds, !kinds.isEmpty),
            (.status, !status.isEmpty), (.hosts, !hosts.isEmpty), (.deployment, !labels.isEmpty),
            (.fieldsChanged, !fields.isEmpty), (.sample, share != nil),
        ]
        return Set(given.filter(\.1).map(\.0))
    }

    /// Whether all conditions hold.
    func matches(_ subject: MatchSubject) -> Bool {
        guard isFor(table: subject.table) else { return false }
        if !kinds.isEmpty, !(subject.kind.map(kinds.contains) ?? false) { return false }
        if !methods.isEmpty, !(subject.method.map(methods.contains) ?? false) { return false }
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

    /// Whether the conditions on the deployment and the table hold.
    func isFor(table: String?) -> Bool {
        if isNever || !labels.isEmpty { return false }
        if !tables.isEmpty, !Self.holds(tables, table) { return false }
        return excluded.isEmpty || !Self.holds(excluded, table)
    }

    private static func holds(_ globs: [Glob], _ name: String?) -> Bool {
        guard let name else { return false }
        return globs.contains { $0.matches(name) }
    }

    /// Returns the host of an authority, without the port and in small letters.
    private static func host(_ authority: String) -> String {
        let host = authority.lowercased()
        if host.hasPrefix("[") { return String(host.dropFirst().prefix { $0 != "]" }) }
        return String(host.prefix { $0 != ":" })
    }

    /// Returns a number from 0 up to but not including 1, the same for a key on every device.
    private static func draw(_ key: String) -> Double {
        var hash = FNV1a.hash(key.utf8)
        // The last bytes of a text hardly change the high bits of FNV-1a; these steps (of SplitMix64) spread them.
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        hash ^= hash >> 31
        return Double(hash >> 11) * 0x1p-53
    }

    /// The conditions, for a person: `tables todo*; methods POST, PATCH`; empty for a match that always holds.
    var description: String {
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

/// A status, or all of one class: `412`, `5xx`.
struct StatusPattern: Sendable, Hashable {
    let text: String
    private let range: ClosedRange<Int>

    /// The pattern; nil if the text is not one.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 3, (UInt8(ascii: "1")...UInt8(ascii: "5")).contains(bytes[0]) else { return nil }
        if let code = Int(text), text.allSatisfy({ $0.isNumber }) {
            range = code...code
        } else if bytes[1] == UInt8(ascii: "x"), bytes[2] == UInt8(ascii: "x") {
            let first = Int(bytes[0] - UInt8(ascii: "0")) * 100
            range = first...first + 99
        } else {
            return nil
        }
        self.text = text
    }

    func matches(_ code: Int) -> Bool { range.contains(code) }
}
