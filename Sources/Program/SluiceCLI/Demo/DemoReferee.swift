internal import Sluice
internal import SluiceLua
internal import Synchronization

/// A device's conflict handler: asks the plugins if there are some, else decides field by field itself, and notes what
/// was decided so that it can be told.
///
/// What one side alone changed is taken from that side. Where both changed a text, the longer one wins; else the
/// server's value does.
final class DemoReferee: ConflictHandler {
    /// What became of one field.
    struct Field: Sendable {
        var name: PropertyName
        var base: JSON?
        var server: JSON?
        var client: JSON?
        /// What the field is from now on.
        var decided: JSON?
        /// Whose value that is; nil where it is neither's.
        var winner: FieldMerge.Side?
        var reason: String
    }

    /// One conflict and its decision.
    struct Ruling: Sendable {
        var recordID: RecordID
        var status: Int
        var fields: [Field]
        /// Who decided.
        var judge: String
        /// What was decided where that is no record: `ask`, `delete`; and why, in the plugin's words.
        var verdict: String?
        var reason: String?
        /// Who was asked before, and why the conflict was passed on.
        var passed: String?
        /// Whether the record is gone on both sides from now on.
        var isDeletion = false
        /// When it was decided.
        let at = ContinuousClock.now

        /// Whether there is a record from now on.
        var isDecided: Bool { verdict == nil }
    }

    /// Who decides where nobody else is asked.
    static let name = "a handler in Swift"
    /// The properties that are the server's.
    private static let system: Set<PropertyName> = ["id", "version", "createdAt", "updatedAt", "deleted"]

    /// The device's plugins, where one of them decides conflicts, and what the story calls them.
    private let plugins: (loaded: Plugins, title: String)?
    private let noted = Mutex<[Ruling]>([])

    init(plugins: (loaded: Plugins, title: String)? = nil) { self.plugins = plugins }

    /// The conflicts that were decided so far.
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

    /// What the plugins say to a conflict, with the decision log's entry of the one that said it; nil where none was
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
    /// Whether it leaves nothing to decide.
    fileprivate var isFinal: Bool {
        switch self {
        case .delete, .client, .server, .discard, .merge, .replace: true
        case .defer, .ask, .abort, .next: false
        }
    }

    /// What a decision is called that leads to no record.
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
