internal import HTTPTypes
internal import SluiceCore

extension SimulatedServer {
    /// Performs a change, or returns the reason against it.
    func change(_ change: inout SimulatedChange, _ state: inout State) -> SyncResponse {
        guard let call = change.call else { return .model(400, nil) }
        switch (call.method, call.id) {
        case (.post, nil): return insert(call, change, &state)
        case (.post, let id?) where dialect.undelete == .post: return restore(id, call, change, &state)
        case (.patch, let id?) where dialect.undelete == .patch && call.body[dialect.columns.deleted]?.bool == false:
            return restore(id, call, change, &state)
        case (.put, let id?) where dialect.undelete == .put && call.body[dialect.columns.deleted]?.bool == false:
            return restore(id, call, change, &state, replacing: true)
        case (.patch, let id?) where dialect.patchesUpdates:
            return update(id, call, change, &state) { $0.merge(call.body, dialect, setting) }
        case (.put, let id?):
            return update(id, call, change, &state) { row in
                row.fields = ["id": JSON(id)]
                row.merge(call.body, dialect, setting)
            }
        case (.delete, let id?):
            let response = update(id, call, change, &state) { $0.isDeleted = true }
            return response.status == 200 ? .model(204, nil) : response
        default: return .model(405, ["error": "not that way"])
        }
    }

    private func insert(_ call: ModelCall, _ change: SimulatedChange, _ state: inout State) -> SyncResponse {
        guard let id = call.body["id"]?.textID.map(setting.ids.known) else { return .model(400, ["error": "no id"]) }
        // An OData service keeps nothing of a deleted row.
        if let row = state.tables[change.table]?[id], service == nil || !row.isDeleted { return reply(409, row) }
        if let reserved = call.body.names.first(where: dialect.isSystemProperty) {
            return .model(400, ["error": JSON("Cannot insert item with property '\(reserved)' as it is reserved")])
        }
        var row = SimulatedRow(id: id, createdAt: clock.now)
        row.merge(call.body, dialect, setting)
        commit(&row, change, &state)
        return reply(201, row)
    }

    private func update(
        _ id: RecordID, _ call: ModelCall, _ change: SimulatedChange, _ state: inout State,
        _ body: (inout SimulatedRow) -> Void
    ) -> SyncResponse {
        guard var row = state.tables[change.table]?[id], !row.isDeleted else {
            return .model(gone(id, change, state), ["error": "The item does not exist"])
        }
        if let wanted = call.ifMatch, wanted != "v\(row.version)" { return reply(412, row) }
        body(&row)
        commit(&row, change, &state)
        return reply(200, row)
    }

    /// Returns the status for a missing row: the newer servers answer 410 for a soft-deleted one.
    private func gone(_ id: RecordID, _ change: SimulatedChange, _ state: State) -> Int {
        dialect.odata == .v4 && state.tables[change.table]?[id] != nil ? 410 : 404
    }

    private func restore(
        _ id: RecordID, _ call: ModelCall, _ change: SimulatedChange, _ state: inout State, replacing: Bool = false
    ) -> SyncResponse {
        guard var row = state.tables[change.table]?[id] else {
            return .model(404, ["error": "The item does not exist"])
        }
        if let wanted = call.ifMatch, wanted != "v\(row.version)" { return reply(412, row) }
        // A row that is not deleted needs no undelete.
        guard row.isDeleted || replacing else { return reply(200, row) }
        row.isDeleted = false
        if replacing {
            row.fields = ["id": JSON(id)]
            row.merge(call.body, dialect, setting)
        }
        commit(&row, change, &state)
        return reply(dialect.undelete == .post ? 201 : 200, row)
    }
}
