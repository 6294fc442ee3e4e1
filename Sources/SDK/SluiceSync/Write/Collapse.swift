/// What becomes of the queue when a record that has an operation is changed again.
///
/// The rules in one place, as a pure function: what is queued and what is new in, what to do out. An operation that is
/// in flight is never changed, and neither is one that does not merge: the new one becomes its successor.
enum Collapse: Sendable, Hashable {
    /// The new change goes into the queue after all others.
    case append
    /// The queued operation takes the new body and keeps its place.
    case absorb
    /// The queued operation becomes one of that kind; its body is new. It keeps its place, unless it is a delete, which
    /// goes to the end.
    case become(TableOperation.Kind)
    /// The queued operation goes; one of that kind is put at the end, with the same base.
    case moveToEnd(TableOperation.Kind)
    /// Both go, and the record is as the server knows it.
    case vanish
    /// The queued delete becomes the edit again whose place it took.
    case takeBack
    /// The change is not possible, for that reason.
    case refuse(String)

    /// What to do when `new` comes to a record whose newest operation is `queued`.
    ///
    /// - Parameters:
    ///   - isMergeable: whether the new change may become part of another.
    ///   - group: the group of the new change: one merges only with itself.
    ///   - user: whose change the new one is: it does not merge with one of another user.
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
        // An insert that was never sent, or was refused for certain, is unknown to the server, so nothing has to be
        // sent. Of any other the server may have the record, so the delete is sent.
        case (.insert, .delete): return queued.wasSent && !queued.wasRefused ? become(.delete) : vanish
        // After the deletes of children that were queued meanwhile.
        case (.update, .delete): return moveToEnd(.delete)
        // The row is there on the server, so the new record replaces it; once sent, the delete stands for itself.
        case (.delete, .insert): return queued.wasSent ? append : become(.update)
        case (.delete, .undelete): return queued.frozen != nil ? takeBack : queued.wasSent ? append : vanish
        case (.delete, .update), (.delete, .delete): return refuse("the record is deleted")
        case (.insert, .undelete), (.update, .undelete), (.undelete, .undelete):
            return refuse("the record is not deleted")
        case (.undelete, .update): return append
        case (.undelete, .delete): return queued.wasSent ? moveToEnd(.delete) : vanish
        }
    }

    /// Whether a delete takes the place of an edit of which the server may never hear.
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
