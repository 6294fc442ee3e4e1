public import SluiceBase

/// Merges records field by field against their base: a field that only one side changed is taken from that side.
///
/// A field that both sides changed, to different values, goes to the next handler unless ``preferring`` names the
/// winner. A record that one side deleted goes to the next handler.
public struct FieldMerge: ConflictHandler {
    /// The winner of a field that both sides changed.
    public enum Side: String, Sendable, Hashable, Encodable {
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

/// The records of a conflict that exists on both sides, compared property by property with the base.
struct ThreeWay {
    /// The side that changed a property.
    enum Change { case neither, client, server, both }

    private let client: JSON
    private let server: JSON
    private let base: JSON
    private let sent: [SentBody]

    /// Makes the comparison; nil where one side has deleted the record. Without a base every property counts as
    /// changed.
    init?(_ conflict: Conflict) {
        guard let client = conflict.client, let server = conflict.server, !conflict.isDeletedOnServer else {
            return nil
        }
        self.client = Self.spelled(client, like: server)
        self.server = server
        base = conflict.base.map { Self.spelled($0, like: server) } ?? .object
        sent = conflict.operation.sent
    }

    /// The properties of all three records.
    var names: [PropertyName] { Set(client.names).union(server.names).union(base.names).sorted() }

    /// Returns the side that changed the property. Null and absent are equal here, because servers differ in writing
    /// one or the other.
    func change(of name: PropertyName) -> Change {
        let (mine, theirs, old) = (client[name] ?? .null, server[name] ?? .null, base[name] ?? .null)
        if mine == theirs { return .neither }
        if theirs == old { return .client }
        // A local value that reached the server and was reverted here since is no change by the server.
        if sent.contains(where: { $0.mayBeDone && $0.final[name] == theirs }) { return .client }
        return mine == old ? .server : .both
    }

    /// Returns the record with each property from the side that changed it.
    ///
    /// - Parameter side: the side whose value is used for a property that both changed.
    func record(preferring side: FieldMerge.Side) -> JSON {
        var record = server
        for name in names {
            let change = change(of: name)
            if change == .client || change == .both && side == .client { record[name] = client[name] }
        }
        return record
    }

    /// Completes a handler's record: a property left at its base value is taken from the side that changed it.
    func completed(_ record: JSON) -> JSON {
        guard record.kind == .object else { return record }
        let given = Self.spelled(record, like: server)
        var completed = given
        for name in names where (given[name] ?? .null) == (base[name] ?? .null) {
            switch change(of: name) {
            case .client: completed[name] = client[name]
            case .server, .neither: completed[name] = server[name]
            case .both: break
            }
        }
        return completed
    }

    private static func spelled(_ record: JSON, like server: JSON) -> JSON {
        RecordRules.spelled(record, like: server, system: []) ?? record
    }
}

extension Conflict {
    /// The starting point of a merge: each property is from the side that changed it, and from the application if both
    /// did. Nil where one side has deleted the record.
    public var merged: JSON? { merged(preferring: .client) }

    /// Returns the record given for one that was deleted here, with the server's values where it leaves the base's.
    fileprivate func renewed(_ given: JSON) -> JSON {
        guard client == nil, !isDeletedOnServer, let base, let server, given.kind == .object else { return given }
        var renewed = given
        for name in Set(base.names).union(server.names).sorted() where (given[name] ?? .null) == (base[name] ?? .null) {
            renewed[name] = server[name]
        }
        return renewed
    }

    /// Returns the merged record, with the given side's value for a property that both changed.
    package func merged(preferring side: FieldMerge.Side) -> JSON? { ThreeWay(self)?.record(preferring: side) }
}

extension ConflictDecision {
    /// Returns the record on both sides after the decision; nil if there is none, or nothing is decided.
    package func record(in conflict: Conflict) -> JSON? {
        switch self {
        case .merge(let record): ThreeWay(conflict)?.completed(record) ?? conflict.renewed(record)
        case .replace(let record): record
        case .client: conflict.merged ?? conflict.client
        case .server, .discard: conflict.isDeletedOnServer ? nil : conflict.server
        case .delete, .defer, .ask, .abort, .next: nil
        }
    }

    /// The record given with the decision.
    package var given: JSON? {
        switch self {
        case .merge(let record), .replace(let record): record
        default: nil
        }
    }

    /// Returns the decision with its record changed, if it has one.
    func mapGiven(_ change: (JSON) -> JSON) -> Self {
        switch self {
        case .merge(let record): .merge(change(record))
        case .replace(let record): .replace(change(record))
        default: self
        }
    }
}
