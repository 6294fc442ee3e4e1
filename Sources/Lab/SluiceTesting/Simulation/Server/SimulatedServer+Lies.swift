internal import HTTPTypes
internal import SluiceCore
internal import Synchronization

extension SimulatedServer {
    /// Returns a false answer to a change that is not performed; nil where the server does not lie.
    func lie(about call: ModelCall, _ table: String, _ state: State) -> SyncResponse? {
        let row = call.id.flatMap { state.tables[table]?[$0] }
        switch call.method {
        case .patch, .put:
            guard let row, !row.isDeleted, call.ifMatch == "v\(row.version)" else { break }
            // If the answer has neither the row nor its tag, a later change by another client hides this lie.
            let isShown = service?.has(.hidesTags) != true
            if isShown, faults.strikes(.unchanged) { return reply(200, row) }
        case .delete:
            if faults.strikes(.falseNotFound) { return .model(404, ["error": "The item does not exist"]) }
        default: break
        }
        if faults.strikes(.falseSuccess) { return .model(200, ["error": "an accident"]) }
        return nil
    }

    /// Stores all rows as a backup.
    func makeBackup() { state.withLock { $0.backup = $0.tables } }

    /// Replaces all rows by the last backup. Versions are not issued again, and earlier tokens expire.
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

    /// The ids of rows that no device can store: see ``ServerTrait/hasOddRows``.
    static let oddIDs: [RecordID] = ["odd0", "odd1"]

    /// Creates or changes the odd rows.
    func editOddRows() {
        let nested = (0..<65).reduce(JSON(1)) { inner, _ in [inner] }
        edit("items", [(Self.oddIDs[0], ["group": 0]), (Self.oddIDs[1], ["group": 0, "deep": nested])])
    }
}

extension SimulatedRow {
    /// Whether no device can store the row.
    var isOdd: Bool { SimulatedServer.oddIDs.contains(id) }
}

extension SimulatedServer {
    /// Answers the parts of a batch in order. The parts of a group are performed together or not at all.
    func answer(_ batch: ModelBatch, _ device: Int, user: Int, _ state: inout State) -> SyncResponse {
        ModelBatch.answer(
            answers(to: batch, &state) { request, isAlone, state in
                answer(request, device, user: user, isAlone: isAlone, &state)
            })
    }

    /// Returns the answers to the parts of a batch, each from `answer`. Its flag is true for a request outside of a
    /// group.
    func answers(
        to batch: ModelBatch, _ state: inout State, by answer: (SyncRequest, Bool, inout State) -> SyncResponse
    ) -> [(id: String, response: SyncResponse)] {
        var answers: [(id: String, response: SyncResponse)] = []
        var failed: Set<String> = []
        var index = 0
        while index < batch.parts.count {
            let group = batch.parts[index].group
            var end = index + 1
            while group != nil, end < batch.parts.count, batch.parts[end].group == group { end += 1 }
            let before = state
            var responses: [SyncResponse] = []
            for part in batch.parts[index..<end] {
                let isStopped = part.dependsOn.contains { failed.contains($0) }
                let response =
                    isStopped
                    ? .model(424, nil)
                    : answer(part.request, group == nil, &state)
                if response.status >= 300 { failed.insert(part.id) }
                responses.append(response)
            }
            let isBroken = group != nil && responses.contains { $0.status >= 300 }
            if isBroken { state = before }
            for (part, response) in zip(batch.parts[index..<end], responses) {
                answers.append((part.id, isBroken && response.status < 300 ? .model(424, nil) : response))
            }
            index = end
        }
        return answers
    }
}
