internal import Sluice
internal import Synchronization

/// The demo's conflict handler: decides field by field, and notes what it decided so that it can be told.
///
/// What one side alone changed is taken from that side. Where both changed a text, the longer one wins; else the
/// server's value does.
final class DemoReferee: ConflictHandler {
    /// What became of one field.
    struct Field: Sendable {
        var name: String
        var base: JSON?
        var server: JSON?
        var client: JSON?
        var winner: FieldMerge.Side
        var reason: String
        /// What the field is from now on.
        var decided: JSON? { winner == .client ? client : server }
    }

    /// One conflict and its decision.
    struct Ruling: Sendable {
        var recordID: String
        var status: Int
        var fields: [Field]
    }

    private let noted = Mutex<[Ruling]>([])

    /// The conflicts that were decided so far.
    var rulings: [Ruling] { noted.withLock { $0 } }

    func decide(_ conflict: Conflict) async throws -> ConflictDecision {
        guard let client = conflict.client, let server = conflict.server, let base = conflict.base,
            !conflict.isDeletedOnServer
        else { return .next }
        var merged = server
        var fields: [Field] = []
        let system: Set<String> = ["id", "version", "createdAt", "updatedAt", "deleted"]
        for name in base.names where !system.contains(name) {
            let (ours, theirs) = (client[name], server[name])
            guard ours != base[name] || theirs != base[name] else { continue }
            let (winner, reason) = Self.choose(base: base[name], server: theirs, client: ours)
            let field = Field(
                name: name, base: base[name], server: theirs, client: ours, winner: winner, reason: reason)
            merged[name] = field.decided
            fields.append(field)
        }
        let ruling = Ruling(recordID: conflict.recordID, status: conflict.status, fields: fields)
        noted.withLock { $0.append(ruling) }
        return .merge(merged)
    }

    private static func choose(base: JSON?, server: JSON?, client: JSON?) -> (FieldMerge.Side, String) {
        if client == base { return (.server, "only change") }
        if server == base || server == client { return (.client, "only change") }
        guard let ours = client?.string, let theirs = server?.string else { return (.server, "both; a rule") }
        return (ours.count > theirs.count ? .client : .server, "both; longer")
    }
}
