internal import HTTPTypes
internal import SluiceCore
internal import Synchronization

extension SimulatedServer {
    /// An answer to a change that is not carried out, and that says otherwise; nil where the server does not lie.
    func lie(about call: ModelCall, _ table: String, _ state: State) -> Response? {
        let row = call.id.flatMap { state.tables[table]?[$0] }
        switch call.method {
        case .patch, .put:
            guard let row, !row.isDeleted, call.ifMatch == "v\(row.version)" else { break }
            // Nothing shows this lie where the answer has neither the row nor its tag, and another changes the row then.
            let isShown = service?.has(.hidesTags) != true
            if isShown, faults.strikes(.unchanged) { return reply(200, row) }
        case .delete:
            if faults.strikes(.falseNotFound) { return .model(404, ["error": "The item does not exist"]) }
        default: break
        }
        if faults.strikes(.falseSuccess) { return .model(200, ["error": "an accident"]) }
        return nil
    }

    /// Remembers all rows as they are.
    func makeBackup() { state.withLock { $0.backup = $0.tables } }

    /// Puts the last backup in the place of all rows. Versions are not given out again, and tokens of before are no good.
    func restoreBackup() {
        state.withLock { state in
            guard let backup = state.backup else { return }
            state.tables = backup
            state.backup = nil
            state.replica = SimulatedReplica()
            state.remembered = [:]
            state.epoch += 1
            oracle.restored(backup, at: state.version)
        }
    }

    /// Ids of rows that no device can store: see ``SimulationHabit/hasOddRows``.
    static let oddIDs: [RecordID] = ["odd0", "odd1"]

    /// Makes the odd rows, or changes them.
    func editOddRows() {
        let nested = (0..<65).reduce(JSON(1)) { inner, _ in [inner] }
        edit("items", [(Self.oddIDs[0], ["group": 0]), (Self.oddIDs[1], ["group": 0, "deep": nested])])
    }
}

extension SimulatedRow {
    /// Whether it is one that no device can store.
    var isOdd: Bool { SimulatedServer.oddIDs.contains(id) }
}
