/// Decides conflicts. Handlers form a chain: the first that does not answer ``ConflictDecision/next`` decides.
///
/// A handler runs outside every transaction and may take its time; a newer local edit made meanwhile is kept and put
/// on top of the decision.
///
/// ```swift
/// struct LongestTitleWins: ConflictHandler {
///     func decide(_ conflict: Conflict) async throws -> ConflictDecision {
///         guard var merged = conflict.client, let server = conflict.server else { return .next }
///         let titles = [merged["title"]?.string ?? "", server["title"]?.string ?? ""]
///         merged["title"] = JSON(titles.max { $0.count < $1.count } ?? "")
///         return .merge(merged)
///     }
/// }
/// ```
public protocol ConflictHandler: Sendable {
    /// Decides one conflict.
    ///
    /// - Throws: whatever it likes; the operation is then held with the error as its reason, and nothing is lost.
    func decide(_ conflict: Conflict) async throws -> ConflictDecision
}

/// What happens to a conflict that no handler decides.
public enum ConflictPolicy: String, Sendable, Hashable, CaseIterable {
    /// The operation waits, visible in the queue, until someone decides.
    case hold
    /// The server's record stands.
    case serverWins = "server-wins"
    /// The local record is sent on top of the server's version.
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
