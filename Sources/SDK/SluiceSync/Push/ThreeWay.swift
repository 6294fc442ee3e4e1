public import SluiceBase

/// The records of a conflict that both sides still have, property by property: which side changed it since the base.
struct ThreeWay {
    /// The side that changed a property.
    enum Change { case neither, client, server, both }

    private let client: JSON
    private let server: JSON
    private let base: JSON
    private let sent: [SentBody]

    /// The three records; nil where one side has deleted it. Without a base each side has made all that it has.
    init?(_ conflict: Conflict) {
        guard let client = conflict.client, let server = conflict.server, !conflict.isDeletedOnServer else {
            return nil
        }
        self.client = Self.spelled(client, like: server)
        self.server = server
        base = conflict.base.map { Self.spelled($0, like: server) } ?? .object
        sent = conflict.operation.sent
    }

    /// The properties that any of the three has.
    var names: [PropertyName] { Set(client.names).union(server.names).union(base.names).sorted() }

    /// The side that changed the property. Null and absent are the same here: servers differ in which of the two they write.
    func change(of name: PropertyName) -> Change {
        let (mine, theirs, old) = (client[name] ?? .null, server[name] ?? .null, base[name] ?? .null)
        if mine == theirs { return .neither }
        if theirs == old { return .client }
        // A value of ours that has arrived and was taken back here since is no change of the other side's.
        if sent.contains(where: { $0.mayBeDone && $0.final[name] == theirs }) { return .client }
        return mine == old ? .server : .both
    }

    /// The record in which each property is of the side that changed it.
    ///
    /// - Parameter side: whose value a property gets that both changed.
    func record(preferring side: FieldMerge.Side) -> JSON {
        var record = server
        for name in names {
            let change = change(of: name)
            if change == .client || change == .both && side == .client { record[name] = client[name] }
        }
        return record
    }

    /// The record of a handler, where what it leaves as the base has it is of the side that changed it.
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
    /// The record that a merge begins with: each property is of the side that changed it, and the application's where
    /// both did. Nil where one side has deleted the record.
    public var merged: JSON? { merged(preferring: .client) }

    /// The same, with the values of that side where both changed a property.
    package func merged(preferring side: FieldMerge.Side) -> JSON? { ThreeWay(self)?.record(preferring: side) }
}

extension ConflictDecision {
    /// The record that both sides have after the decision; nil where there is none, or nothing is decided.
    package func record(in conflict: Conflict) -> JSON? {
        switch self {
        case .merge(let record): ThreeWay(conflict)?.completed(record) ?? record
        case .replace(let record): record
        case .client: conflict.merged ?? conflict.client
        case .server, .discard: conflict.isDeletedOnServer ? nil : conflict.server
        case .delete, .defer, .ask, .abort, .next: nil
        }
    }

    /// The record that the decision's maker gave.
    package var given: JSON? {
        switch self {
        case .merge(let record), .replace(let record): record
        default: nil
        }
    }
}
