internal import SluiceBase

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

/// Changes the kind of an operation, inside one transaction. It is used when the server's record has changed since the
/// local change was made.
struct KindChange {
    let columns: PushColumns
    let environment: SyncEnvironment
    let store: any StoreWriter
    let queue: QueueWriter

    /// The condition for a valid change of kind.
    enum Need {
        /// The server has the record, as far as is known here.
        case serverHasIt
        /// The server does not have the record, as far as is known here.
        case serverLacksIt
        /// Nothing.
        case nothing
    }

    /// Returns the condition for changing one kind to the other; nil where the change is not valid.
    static func need(_ old: TableOperation.Kind, _ new: TableOperation.Kind) -> Need? {
        switch (old, new) {
        // The record turned out to exist on the server, or to be gone.
        case (.insert, .update), (.insert, .delete): .serverHasIt
        case (.update, .insert), (.delete, .insert), (.undelete, .insert): .serverLacksIt
        // The delete is taken back while the server still has the record.
        case (.delete, .update): .serverHasIt
        case (.update, .delete): .nothing
        default: nil
        }
    }

    func carryOut(_ given: TableOperation, to kind: TableOperation.Kind, record: JSON?) throws {
        let (table, id) = (given.table, given.recordID)
        func refuse(_ reason: String) -> SluiceError {
            SluiceError(
                .operationRefused, "cannot make \(given.kind.rawValue) \(kind.rawValue): \(reason)", table: table,
                recordID: id, operationID: given.id)
        }
        guard given.state != .inFlight else { throw given.unknownOutcome("the operation is on its way") }
        try queue.reader.refuseDoubt(inGroupOf: given)
        guard let need = Self.need(given.kind, kind) else { throw refuse("that makes no sense") }
        guard let operation = try queue.absorbEdits(of: id, in: table).first(where: { $0.id == given.id }),
            try queue.reader.all(on: id, in: table).count == 1
        else { throw refuse("other changes of the record wait too; discard those first") }
        let state = try queue.reader.state(of: id, in: table)
        let local = try store.record(id, in: table)
        switch need {
        case .serverHasIt where state?.mirror == nil: throw refuse("the server is not known to have it; pull first")
        case .serverLacksIt where state?.mirror != nil: throw refuse("the server has it, as far as is known here")
        default: break
        }
        try queue.audit(given, "change to \(kind.rawValue)", local: local, at: environment.now())

        var changed = operation
        changed.kind = kind
        changed.revise()
        var wanted: JSON?
        if kind != .delete {
            if let record {
                try RecordRules.validate(whole: record, besides: [local, state?.mirror], id: id, table: table)
            }
            wanted = record ?? local ?? operation.frozen ?? state?.mirror ?? (kind == .insert ? state?.base : nil)
            guard wanted != nil else { throw refuse("there is no body for it; give one") }
            wanted = wanted.map {
                RecordRules.record($0, withSystemColumns: columns.system, of: state?.mirror, id: id)
            }
            wanted = wanted.map {
                columns.renewed(
                    $0, in: table, seen: [local, state?.base], by: kind == .insert ? nil : state?.mirror)
            }
        }
        // To the end: deletes of dependent records must be sent first.
        if kind == .delete { changed.sequence = try queue.reader.nextSequence() }
        if case .serverHasIt = need {
            // The user has seen the mirror, so it becomes the operation's base.
            try queue.put(RecordState(table: table, recordID: id, base: state?.mirror, mirror: state?.mirror))
        } else if kind == .insert {
            try queue.put(RecordState(table: table, recordID: id, base: nil, mirror: nil))
        }
        try queue.put(changed)
        try queue.setLocal(wanted, id, in: table)
        if let group = operation.group { try queue.revive(group) }
    }
}
