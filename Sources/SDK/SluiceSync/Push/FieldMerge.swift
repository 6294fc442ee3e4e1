/// Merges records field by field against their base: a field that only one side changed is taken from that side.
///
/// A field that both sides changed, to different values, goes to the next handler unless ``preferring`` names the
/// winner. A record that one side deleted goes to the next handler.
public struct FieldMerge: ConflictHandler {
    /// The winner of a field that both sides changed.
    public enum Side: Sendable, Hashable {
        /// The local value.
        case client
        /// The server's value.
        case server
    }

    /// The winner of a field that both sides changed; nil leaves such a conflict to the next handler.
    public let preferring: Side?

    /// Makes a handler.
    public init(preferring: Side? = nil) { self.preferring = preferring }

    /// Merges the two records.
    public func decide(_ conflict: Conflict) async throws -> ConflictDecision {
        guard conflict.base != nil, let records = ThreeWay(conflict) else { return .next }
        if preferring == nil, records.names.contains(where: { records.change(of: $0) == .both }) { return .next }
        return .merge(records.record(preferring: preferring ?? .client))
    }
}
