public import SluiceBase
internal import SluiceWire

/// A local change that the server refused because its record differs from the change's base.
public struct Conflict: Sendable {
    /// The table.
    public let table: String
    /// The record's id.
    public let recordID: RecordID
    /// The refused operation.
    public let operation: TableOperation
    /// The record as the application has it; nil where it was deleted here.
    public let client: JSON?
    /// The record as the server has it; nil where the server has none. It may be marked as deleted: see
    /// ``isDeletedOnServer``.
    public let server: JSON?
    /// The server's record on which the local change was made; nil for an insert.
    public let base: JSON?
    /// Whether a send before this one ended without an answer, so that the change may be on the server already. A
    /// handler that adds up must not add twice.
    public let maybeApplied: Bool
    /// The status of the answer: 409 or 412, or 404 and 410 for an update of a missing record; 500 for the repeat of a
    /// creation that an OData service failed while it has the row.
    public let status: Int
    /// Whether the server's record is gone or marked as deleted.
    public let isDeletedOnServer: Bool
    /// Whether the server has the same change already, made by another: see ``ConflictHandler/decidesEqualEdits``.
    public let isEqualEdit: Bool
    /// Whether the handler that decided is one that adds up (``ConflictHandler/decidesEqualEdits``). Later edits of the
    /// values that it has decided are then decided too.
    var addsUp = false

    package init(
        operation: TableOperation, client: JSON?, server: JSON?, base: JSON?, maybeApplied: Bool, status: Int,
        isDeletedOnServer: Bool, isEqualEdit: Bool = false
    ) {
        table = operation.table
        recordID = operation.recordID
        self.operation = operation
        self.client = client
        self.server = server
        self.base = base
        self.maybeApplied = maybeApplied
        self.status = status
        self.isDeletedOnServer = isDeletedOnServer
        self.isEqualEdit = isEqualEdit
    }
}

extension Conflict {
    /// The conflict's cause and the way to resolve it, for a person.
    var reason: String {
        let what =
            if isDeletedOnServer {
                server == nil ? "the server has no such record any more" : "the record was deleted on the server"
            } else if operation.kind == .insert {
                "the server has a record of this id already"
            } else if let version = base?["version"] ?? base?["__version"], !version.isNull,
                server?["version"] ?? server?["__version"] == version
            {
                (base?.members ?? []).contains { (server?[$0.name] ?? $0.value) != $0.value }
                    ? "the server's record has other content under the version that the change was made on"
                    : "the server refused the change, although its record is the one that the change was made on"
            } else {
                // A local delete changes no property, so "too" would be wrong for it.
                "the record was changed on the server" + (operation.kind == .update ? " too" : "")
            }
        guard maybeApplied else { return what }
        // A server may write a value otherwise than it was sent: a number as a text, or rounded.
        let differences = differences
        return what + "; but this may be our own change, which may have been applied"
            + (differences.isEmpty ? "" : " (\(differences.joined(separator: "; ")))")
            + ": decide server if the server's record is what was meant, client to send the change again"
    }

    /// The properties that differ between the two records, with the types of their values. Values may be long or
    /// secret.
    private var differences: [String] {
        guard let client, let server, !isDeletedOnServer else { return [] }
        let changed = client.names.sorted().filter { name in
            (client[name] ?? .null) != (base?[name] ?? .null) && (client[name] ?? .null) != (server[name] ?? .null)
        }
        return changed.prefix(3).map { name in
            let (mine, theirs) = (client[name]?.kind ?? .null, server[name]?.kind ?? .null)
            let name = ServerMessage.shortened(name.text, to: 60)
            return mine == theirs
                ? "\(name): another \(mine.word) there" : "\(name): \(mine.word) here, \(theirs.word) there"
        }
    }
}

extension JSON.Kind {
    /// The kind as a person calls it: "number", "text".
    public var word: String {
        switch self {
        case .null: "nothing"
        case .bool: "true or false"
        case .number: "number"
        case .string: "text"
        case .array: "list"
        case .object: "object"
        }
    }
}

extension Conflict {
    /// The conflict with its three records.
    package var json: JSON {
        [
            "table": JSON(table), "id": JSON(recordID), "kind": JSON(operation.kind.rawValue),
            "operation": JSON(operation.id), "client": client ?? .null, "server": server ?? .null,
            "base": base ?? .null, "maybeApplied": JSON(maybeApplied), "status": JSON(status),
            "deletedOnServer": JSON(isDeletedOnServer),
        ]
    }
}

/// Decides conflicts. Handlers form a chain: the first that does not answer ``ConflictDecision/next`` decides.
///
/// A handler runs outside every transaction and may take its time; a local edit made in the meantime is kept and
/// applied on top of the decision.
///
/// ```swift
/// struct LongestTitleWins: ConflictHandler {
///     func decide(_ conflict: Conflict) async throws -> ConflictDecision {
///         guard var merged = conflict.merged else { return .next }
///         let titles = [conflict.client, conflict.server].map { $0?["title"]?.string ?? "" }
///         merged["title"] = JSON(titles.max { $0.count < $1.count } ?? "")
///         return .merge(merged)
///     }
/// }
/// ```
public protocol ConflictHandler: Sendable {
    /// Whether the handler is asked too where the server refuses an update that was sent once, and has all of its values
    /// by another's change: for a counter that two devices have counted on by the same amount. Such an update counts as
    /// done otherwise, and where the handler answers ``ConflictDecision/next``. Such a handler is also asked again about a
    /// later edit of a value that it has decided; other handlers' decisions are followed by the later edit as it is.
    /// Default false.
    var decidesEqualEdits: Bool { get }

    /// Decides one conflict.
    ///
    /// - Throws: any error; the operation is then held with the error as its reason, and nothing is lost.
    func decide(_ conflict: Conflict) async throws -> ConflictDecision
}

extension ConflictHandler {
    /// False: an equal edit counts as done.
    public var decidesEqualEdits: Bool { false }
}

/// Several handlers as one, such as those of all plugins.
package protocol CombinedConflictHandler: ConflictHandler {
    /// Returns the decision, and whether the handler that made it decides equal edits.
    func decision(about conflict: Conflict) async throws -> (decision: ConflictDecision, addsUp: Bool)
}

extension CombinedConflictHandler {
    package func decide(_ conflict: Conflict) async throws -> ConflictDecision {
        try await decision(about: conflict).decision
    }
}

/// The treatment of a conflict that no handler decides.
public enum ConflictPolicy: String, Sendable, Hashable, CaseIterable, Codable {
    /// The operation waits, visible in the queue, until someone decides.
    case hold
    /// The server's record stands.
    case serverWins = "server-wins"
    /// The application's changes are sent on top of the server's record. Properties changed only on the server stay.
    case clientWins = "client-wins"
}

/// A handler made of a closure, for all tables or some.
public struct ConflictClosure: ConflictHandler {
    private let tables: Set<String>?
    private let body: @Sendable (Conflict) async throws -> ConflictDecision

    /// Asks `body` about conflicts in `tables`; nil means all tables.
    public init(
        tables: Set<String>? = nil, _ body: @escaping @Sendable (Conflict) async throws -> ConflictDecision
    ) {
        self.tables = tables
        self.body = body
    }

    /// Asks the closure.
    public func decide(_ conflict: Conflict) async throws -> ConflictDecision {
        if let tables, !tables.contains(conflict.table) { return .next }
        return try await body(conflict)
    }
}

/// A handler's decision about a conflict.
public enum ConflictDecision: Sendable, Hashable {
    /// The server's record stands; the local change is given up (and noted in the audit).
    case server
    /// The application's changes are sent again, on top of the server's version, and never without a version.
    /// Properties changed only on the server stay.
    case client
    /// This record is stored locally and sent on top of the server's version. If the record leaves a property at its
    /// base value and one side changed it, that side's value is used. The id and the system columns are not taken from
    /// it.
    case merge(JSON)
    /// As ``merge(_:)``, but the record is used as it is, even where it reverts one side's change.
    case replace(JSON)
    /// The record is deleted here and on the server.
    case delete
    /// The local change is given up, as with ``server``; the reason is that the change is unwanted, not that the server
    /// is right.
    case discard
    /// The operation waits for the next push.
    case `defer`
    /// The operation is held until someone decides: it stays visible in the queue, and nothing is lost.
    case ask
    /// The operation is held, and the rest of this push is not done.
    case abort
    /// The next handler is asked; after the last one the configured policy.
    case next

    /// Whether the decision may send content that the operation's author did not write.
    var changesContent: Bool {
        switch self {
        case .merge, .replace, .delete: true
        default: false
        }
    }
}
