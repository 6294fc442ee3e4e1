public import SluiceBase

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
    /// Decides one conflict.
    ///
    /// - Throws: any error; the operation is then held with the error as its reason, and nothing is lost.
    func decide(_ conflict: Conflict) async throws -> ConflictDecision
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
