internal import SluiceBase

/// Merges records field by field against their base: what only one side changed is taken from that side.
///
/// A field that both sides changed, to different values, goes to the next handler unless ``preferring`` names the
/// winner. A record that one side deleted goes to the next handler.
public struct FieldMerge: ConflictHandler {
    /// Who wins a field that both sides changed.
    public enum Side: Sendable, Hashable {
        /// The local value.
        case client
        /// The server's value.
        case server
    }

    /// Who wins a field that both sides changed; nil leaves such a conflict to the next handler.
    public let preferring: Side?

    /// A merge.
    public init(preferring: Side? = nil) { self.preferring = preferring }

    /// Merges the two records.
    public func decide(_ conflict: Conflict) async throws -> ConflictDecision {
        guard let client = conflict.client, let server = conflict.server, let base = conflict.base,
            !conflict.isDeletedOnServer
        else { return .next }
        var merged = server
        for name in Set(client.names).union(base.names).sorted() where client[name] != base[name] {
            if server[name] == base[name] || server[name] == client[name] || preferring == .client {
                merged[name] = client[name]
            } else if preferring == nil {
                return .next
            }
        }
        return .merge(merged)
    }
}
