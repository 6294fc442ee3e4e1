internal import SluiceBase

/// Takes back all operations of a record, inside one transaction. The record returns to the server's last known state;
/// one made here is removed.
struct Undo {
    let columns: PushColumns
    let environment: SyncEnvironment
    let store: any StoreWriter
    let queue: QueueWriter

    /// - Returns: the record afterwards.
    func carryOut(_ id: RecordID, in table: String) throws -> JSON? {
        let all = try queue.reader.all(on: id, in: table)
        guard let first = all.first else {
            throw SluiceError(.invalidArgument, "no change of this record waits", table: table, recordID: id)
        }
        let groups = Set(all.compactMap(\.group))
        let others = try groups.sorted().flatMap { try queue.reader.members(of: $0) }
        if let sent = (all + others).first(where: { $0.state == .inFlight }) {
            throw sent.unknownOutcome("a change is on its way")
        }
        let mirror = try queue.reader.state(of: id, in: table)?.mirror
        if first.mayHaveMadeRecord(mirror: mirror) {
            throw first.unknownOutcome("the server may have the record already")
        }
        let discard = Discard(columns: columns, environment: environment, store: store, queue: queue, reason: "undo")
        for group in groups.sorted() { try discard.check(group) }
        let local = try store.record(id, in: table)
        for operation in all {
            let made = operation.id == all.last?.id ? local : operation.resultingRecord(local: local, mirror: mirror)
            try queue.audit(operation, "undo", local: made, at: environment.now())
            try queue.remove(operation)
        }
        try queue.setLocal(mirror, id, in: table)
        try queue.removeState(of: id, in: table)
        try discard.carryOut(groups: groups)
        return mirror
    }
}
