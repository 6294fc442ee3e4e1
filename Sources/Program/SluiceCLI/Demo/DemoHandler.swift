internal import Sluice
internal import SluiceLua
internal import Synchronization

/// A device's conflict handler: asks the plugins if there are some, else decides field by field itself, and notes the
/// decisions for the story.
///
/// A change by one side alone is taken from that side. If both changed a text, the longer one wins; else the server's
/// value does.
final class DemoHandler: ConflictHandler {
    /// The decision about one field.
    struct Field: Sendable {
        var name: PropertyName
        var base: JSON?
        var server: JSON?
        var client: JSON?
        /// The field's new value.
        var decided: JSON?
        /// The side whose value it is; nil for another value.
        var winner: FieldMerge.Side?
        var reason: String
    }

    /// One conflict and its decision.
    struct Ruling: Sendable {
        var recordID: RecordID
        var status: Int
        var fields: [Field]
        /// The deciding handler.
        var judge: String
        /// The decision without a record: `ask`, `delete`; `reason` has the plugin's explanation.
        var verdict: String?
        var reason: String?
        /// The handler asked before, and its reason for passing the conflict on.
        var passed: String?
        /// Whether the record is deleted on both sides.
        var isDeletion = false
        /// The time of the decision.
        let at = ContinuousClock.now

        /// Whether the decision leads to a record.
        var isDecided: Bool { verdict == nil }
    }

    /// The name of the handler that decides if no plugin does.
    static let name = "a handler in Swift"
    /// The properties that only the server sets.
    private static let system: Set<PropertyName> = ["id", "version", "createdAt", "updatedAt", "deleted"]

    /// The device's plugins, if one of them decides conflicts, with their name in the story.
    private let plugins: (loaded: Plugins, title: String)?
    private let noted = Mutex<[Ruling]>([])

    init(plugins: (loaded: Plugins, title: String)? = nil) { self.plugins = plugins }

    /// The conflicts decided so far.
    var rulings: [Ruling] { noted.withLock { $0 } }

    func decide(_ conflict: Conflict) async throws -> ConflictDecision {
        var passed: String?
        if let plugins {
            let (answer, entry) = await Self.ask(plugins.loaded, conflict)
            let judge = entry.map { "\($0.plugin) in Lua" } ?? plugins.title
            guard case .success(.next) = answer else {
                let decision = try? answer.get()
                let record = decision?.record(in: conflict)
                note(
                    conflict, record, judge, verdict: record == nil ? decision?.verdict ?? "failed" : nil,
                    why: entry?.reason, isDeletion: record == nil && decision?.isFinal == true
                ) { _ in entry?.reason ?? "the plugin" }
                return try answer.get()
            }
            passed = entry.map { "\(judge) passes it on" + ($0.reason.map { " (\($0))" } ?? "") }
            passed = passed ?? "\(plugins.title) is not asked: its match does not hold"
        }
        guard let server = conflict.server, let base = conflict.base, conflict.client != nil,
            !conflict.isDeletedOnServer
        else {
            if let passed { note(conflict, nil, Self.name, verdict: "next", passed: passed) { _ in "" } }
            return .next
        }
        var merged = server
        var reasons: [PropertyName: String] = [:]
        for name in base.names where !Self.system.contains(name) {
            let ours = conflict.client?[name]
            let (winner, reason) = Self.choose(base: base[name], server: server[name], client: ours)
            merged[name] = winner == .client ? ours : server[name]
            reasons[name] = reason
        }
        note(conflict, merged, Self.name, passed: passed) { [reasons] in reasons[$0] ?? "" }
        return .merge(merged)
    }

    /// Returns the plugins' decision of a conflict, with the decision log's entry of the deciding one; nil if none was
    /// asked.
    private static func ask(
        _ plugins: Plugins, _ conflict: Conflict
    ) async -> (decision: Result<ConflictDecision, any Error>, entry: PluginDecision?) {
        let before = await plugins.decisions.last?.sequence ?? 0
        let decision: Result<ConflictDecision, any Error>
        do {
            decision = .success(try await plugins.conflictHandler.decide(conflict))
        } catch {
            decision = .failure(error)
        }
        let entry = await plugins.decisions.last {
            $0.sequence > before && $0.hook == .onConflict && $0.recordID == conflict.recordID && !$0.isShadow
        }
        return (decision, entry)
    }

    private func note(
        _ conflict: Conflict, _ decided: JSON?, _ judge: String, verdict: String? = nil, why: String? = nil,
        passed: String? = nil, isDeletion: Bool = false, reason: (PropertyName) -> String
    ) {
        var fields: [Field] = []
        for name in conflict.base?.names ?? [] where !Self.system.contains(name) {
            let (base, ours, theirs) = (conflict.base?[name], conflict.client?[name], conflict.server?[name])
            guard ours != base || theirs != base else { continue }
            let value = decided?[name]
            let winner: FieldMerge.Side? =
                decided == nil ? nil : value == ours ? .client : value == theirs ? .server : nil
            fields.append(
                Field(
                    name: name, base: base, server: theirs, client: ours, decided: value, winner: winner,
                    reason: reason(name)))
        }
        let ruling = Ruling(
            recordID: conflict.recordID, status: conflict.status, fields: fields, judge: judge, verdict: verdict,
            reason: why, passed: passed, isDeletion: isDeletion)
        noted.withLock { $0.append(ruling) }
    }

    private static func choose(base: JSON?, server: JSON?, client: JSON?) -> (FieldMerge.Side, String) {
        if client == base { return (.server, "only change") }
        if server == base || server == client { return (.client, "only change") }
        guard let ours = client?.string, let theirs = server?.string else { return (.server, "both; a rule") }
        return (ours.count > theirs.count ? .client : .server, "both; longer")
    }
}

extension ConflictDecision {
    /// Whether no other handler needs to decide.
    fileprivate var isFinal: Bool {
        switch self {
        case .delete, .client, .server, .discard, .merge, .replace: true
        case .defer, .ask, .abort, .next: false
        }
    }

    /// The name of a decision that leads to no record.
    fileprivate var verdict: String {
        switch self {
        case .delete: "delete"
        case .defer: "defer"
        case .ask: "ask"
        case .abort: "abort"
        case .client: "client: deleted here"
        case .server, .discard: "server: it has none"
        case .merge, .replace, .next: "next"
        }
    }
}
