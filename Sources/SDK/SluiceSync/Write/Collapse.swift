/// The effect on the queue when a record with a queued operation is changed again.
///
/// Holds the rules in one place, as a pure function from the queued and the new operation to the action. An operation
/// in flight or one that must not merge is never changed: the new one becomes its successor.
enum Collapse: Sendable, Hashable {
    /// The new change goes into the queue after all others.
    case append
    /// The queued operation takes the new body and keeps its place.
    case absorb
    /// The queued operation becomes one of that kind with a new body. It keeps its place, but a delete moves to the
    /// end.
    case become(TableOperation.Kind)
    /// The queued operation is removed; one of that kind is appended, with the same base.
    case moveToEnd(TableOperation.Kind)
    /// Both are dropped, and the record returns to the server's state.
    case vanish
    /// The queued delete becomes the edit that it had replaced.
    case takeBack
    /// The change is refused, for that reason.
    case refuse(String)

    /// Decides about a new change of a record whose newest operation is `queued`.
    ///
    /// - Parameters:
    ///   - isMergeable: whether the new change may become part of another.
    ///   - group: the group of the new change; changes merge only inside one group.
    ///   - user: the user of the new change; changes of different users do not merge.
    package static func decide(
        queued: TableOperation, new: TableOperation.Kind, isMergeable: Bool = true, group: String? = nil,
        user: String = ""
    ) -> Collapse {
        guard queued.state != .inFlight, queued.isMergeable, isMergeable, queued.group == group,
            queued.belongs(to: user)
        else {
            return successor(of: queued.kind, new: new)
        }
        switch (queued.kind, new) {
        case (.insert, .insert), (.update, .insert), (.undelete, .insert): return refuse(exists)
        case (.insert, .update), (.update, .update): return absorb
        // The server does not know an insert that was never sent or was certainly refused, so nothing has to be sent.
        // After any other insert the server may have the record, so the delete is sent.
        case (.insert, .delete): return queued.wasSent && !queued.wasRefused ? become(.delete) : vanish
        // To the end: deletes of child records may have been queued since, and must be sent first.
        case (.update, .delete): return moveToEnd(.delete)
        // The server still has the row, so the new record replaces it. A delete that was sent stays an operation of its
        // own.
        case (.delete, .insert): return queued.wasSent ? append : become(.update)
        case (.delete, .undelete): return queued.frozen != nil ? takeBack : queued.wasSent ? append : vanish
        case (.delete, .update), (.delete, .delete): return refuse("the record is deleted")
        case (.insert, .undelete), (.update, .undelete), (.undelete, .undelete):
            return refuse("the record is not deleted")
        case (.undelete, .update): return append
        case (.undelete, .delete): return queued.wasSent ? moveToEnd(.delete) : vanish
        }
    }

    /// Whether a delete replaces an edit that may never reach the server.
    func folds(_ queued: TableOperation) -> Bool {
        guard queued.kind.hasBody else { return false }
        return self == .vanish || self == .become(.delete) || self == .moveToEnd(.delete)
    }

    private static let exists = "a record with this id exists"

    private static func successor(of kind: TableOperation.Kind, new: TableOperation.Kind) -> Collapse {
        switch (kind, new) {
        case (.insert, .insert), (.update, .insert), (.undelete, .insert): refuse(exists)
        case (.delete, .update), (.delete, .delete): refuse("the record is deleted")
        case (.insert, .undelete), (.update, .undelete), (.undelete, .undelete): refuse("the record is not deleted")
        default: append
        }
    }
}
