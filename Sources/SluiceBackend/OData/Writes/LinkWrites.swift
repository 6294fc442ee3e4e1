internal import HTTPTypes
internal import SluiceCore

/// Changes of links by their addresses: `$ref` in v4, `$links` in v2.
struct LinkWrites {
    let call: ServiceCall

    func write(_ place: Place, done: (ChangePlanner, Int) -> PlannedWrite) async throws -> PlannedWrite {
        var planner = ChangePlanner(call)
        switch (place.subject, call.method) {
        case (.list(let set, let step?), .post):
            let id = try await planner.id(try address(), in: set)
            try planner.refer(set, id, by: step.link.column, to: step.id, isMain: false)
        case (.list(let set, let step?), .delete):
            // OData 4.01 Protocol, section 11.4.6.2.
            guard let address = try QueryOptions(call, set).reference else {
                throw Refusal(.badRequest, "which link is to be removed is said by $id")
            }
            try await remove(try await planner.id(address, in: set), set, step, &planner)
        case (.entity(let set, let id, let step?), .delete) where step.link.isCollection:
            try await remove(id, set, step, &planner)
        case (.entity(_, _, let step?), .delete), (.nothing(_, let step), .delete):
            try planner.refer(step.set, step.id, by: step.link.column, to: nil, isMain: true)
        case (.entity(let set, _, let step?), .put), (.nothing(let set, let step), .put),
            (.entity(let set, _, let step?), .patch), (.nothing(let set, let step), .patch):
            guard !step.link.isCollection else { throw Refusal.method(allowed: "GET, DELETE") }
            let id = try await planner.id(try address(), in: set)
            try planner.refer(step.set, step.id, by: step.link.column, to: id, isMain: true)
        default: throw Refusal.method(allowed: "GET")
        }
        return done(planner, 0)
    }

    private func remove(
        _ id: RecordID, _ set: EntitySet, _ step: Place.Step, _ planner: inout ChangePlanner
    ) async throws {
        guard try await EntityReads(call).contains(id, set, step) else { throw Refusal.missing }
        try planner.refer(set, id, by: step.link.column, to: nil, isMain: false)
    }

    /// The address in the body.
    private func address() throws -> String {
        guard let address = EntityBody.reference(try EntityBody.document(call), call.version) else {
            throw Refusal(
                .badRequest, "the body is an object with \(call.version == .v2 ? "uri" : "@odata.id")")
        }
        return address
    }
}
