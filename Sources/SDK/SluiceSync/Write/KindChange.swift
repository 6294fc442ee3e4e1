internal import SluiceBase

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
