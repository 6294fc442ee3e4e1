internal import HTTPTypes
internal import SluiceCore

/// Answers the changing requests of an OData service.
struct WriteRoutes: Sendable {
    let call: ServiceCall
    let service: ODataService
    private var version: ServiceVersion { call.version }

    func reply(_ place: ODataTarget) async throws -> ODataReply {
        do {
            return try await write(place).reply()
        } catch let refusal as Refusal where refusal.status == .notFound {
            guard case .entity = place.subject, place.suffix == nil, call.method == .patch || call.method == .put else {
                throw refusal
            }
            throw Refusal(.notFound, "there is no entity with this key, and a change makes none: POST it to its set")
        }
    }

    /// Plans the request's changes and its answer.
    ///
    /// - Parameter knowsID: whether the id of a new entity must be assigned before the insert, because a change set
    ///   refers to it.
    func write(_ place: ODataTarget, knowsID: Bool = false) async throws -> PlannedWrite {
        try checkCondition(place)
        var write = try await planned(place, knowsID)
        guard let set = write.changes.first?.set else { throw Refusal.missing }
        // The request's id belongs to the original request, not to the changes made from it.
        let whole = TableRequest(
            served: call.served, table: set.table, wire: version.wire, target: call.target, request: call.request)
        guard let repeatable = try RepeatableRequest(whole) else { return write }
        for index in write.changes.indices {
            write.changes[index].request.repeatable = index == write.main ? repeatable : repeatable.part(index)
        }
        write.isRepeatable = true
        let answer = write.answer
        write.answer = { replies in
            var reply = try answer(replies)
            RepeatableRequest.accept(&reply.headers)
            return reply
        }
        return write
    }

    /// Refuses a change of an entity without `If-Match`, if the service requires it (RFC 6585, section 3).
    private func checkCondition(_ place: ODataTarget) throws {
        guard service.rules.requiresIfMatch, call.method != .post, call.head.headerFields[.ifMatch] == nil else {
            return
        }
        throw Refusal(
            HTTPResponse.Status(code: 428, reasonPhrase: "Precondition Required"),
            "the change needs If-Match with the entity's tag")
    }

    private func planned(_ place: ODataTarget, _ knowsID: Bool) async throws -> PlannedWrite {
        switch (place.subject, place.suffix, call.method) {
        case (.list(let set, let step), nil, .post): return try await insert(set, step, knowsID)
        case (.entity(let set, let id, _), nil, .patch), (.entity(let set, let id, _), nil, .put):
            var planner = ChangePlanner(call)
            let main = try await planner.update(
                set, id, try EntityBody(call, set), replacing: call.method == .put)
            return changed(planner, main, set)
        case (.entity(let set, let id, _), nil, .delete):
            var planner = ChangePlanner(call)
            try planner.delete(set, id)
            return done(planner, 0)
        case (.property(let set, let id, let name), let suffix, .put),
            (.property(let set, let id, let name), let suffix, .patch),
            (.property(let set, let id, let name), let suffix, .delete):
            return try await property(set, id, name, isValue: suffix == .value)
        case (_, .references, _): return try await LinkWrites(call: call).write(place, done: done)
        case (.list, _, _): throw Refusal.method(allowed: place.suffix == nil ? "GET, POST" : "GET")
        case (.entity, _, _): throw Refusal.method(allowed: "GET, PATCH, PUT, DELETE")
        case (.property, _, _): throw Refusal.method(allowed: "GET, PUT, DELETE")
        case (.nothing, _, _): throw Refusal.missing
        case (.operation, _, _): throw Refusal(.badRequest, "an operation is called by itself")
        }
    }

    // MARK: Entities

    private func insert(_ set: EntitySet, _ step: ODataTarget.Step?, _ knowsID: Bool) async throws -> PlannedWrite {
        let format = try call.entityFormat()
        var planner = ChangePlanner(call)
        let main = try await planner.insert(
            set, try EntityBody(call, set), owner: step.map { ($0.link.column, $0.id) }, isMain: true, knowsID: knowsID)
        let changes = planner.changes
        let answer: @Sendable ([Reply]) throws -> ODataReply = { replies in
            guard var entity = Entity(set, reply: replies[main]) else { throw Refusal.missing }
            Self.expand(&entity, changes, replies)
            let address = call.root + set.address(entity.id, version)
            var reply: ODataReply
            if call.preferences.returnsEntity == false, version != .v2 {
                reply = ODataReply(.noContent)
                reply.headers[.eTag] = entity.etag
                if let name = HTTPField.Name("OData-EntityId") { reply.headers[name] = address }
                reply.applied("return=minimal")
            } else {
                reply = ReadRoutes(call).document(entity, .created, format)
                if call.preferences.returnsEntity == true { reply.applied("return=representation") }
            }
            reply.headers[.location] = address
            return reply
        }
        return PlannedWrite(changes: changes, main: main, answer: answer, newID: changes[main].request.newID)
    }

    /// Adds the new related entities to the answer of a new entity.
    private static func expand(_ entity: inout Entity, _ changes: [PlannedChange], _ replies: [Reply]) {
        for (change, reply) in zip(changes, replies) {
            guard let name = change.link, let link = entity.set.link(name), link.target == change.set.name,
                let other = Entity(change.set, reply: reply)
            else { continue }
            guard link.isCollection else {
                if entity.target(of: link) == other.id { entity.expanded[name] = .one(other) }
                continue
            }
            guard
                other.record[link.column]?.string ?? other.record[link.column]?.int.map({ String($0) })
                    == entity.id.text
            else { continue }
            var list = EntityList(entities: [])
            if case .many(let known)? = entity.expanded[name] { list = known }
            list.entities.append(other)
            entity.expanded[name] = .many(list)
        }
    }

    /// Returns the answer to a change: empty, or the entity if the client prefers it. Clients of v2 only know 204.
    private func changed(_ planner: ChangePlanner, _ main: Int, _ set: EntitySet) -> PlannedWrite {
        PlannedWrite(changes: planner.changes, main: main) { replies in
            let entity = Entity(set, reply: replies[main])
            if version != .v2, call.preferences.returnsEntity == true, let entity {
                var reply = ReadRoutes(call).document(entity, .ok, try call.entityFormat())
                reply.applied("return=representation")
                return reply
            }
            var reply = ODataReply(.noContent)
            reply.headers[.eTag] = entity?.etag
            if call.preferences.returnsEntity == false { reply.applied("return=minimal") }
            return reply
        }
    }

    /// Returns the empty answer.
    private func done(_ planner: ChangePlanner, _ main: Int) -> PlannedWrite {
        PlannedWrite(changes: planner.changes, main: main) { replies in
            ODataReply(.noContent).tagged(replies[main].headers[.eTag])
        }
    }

    // MARK: Properties

    private func property(_ set: EntitySet, _ id: RecordID, _ name: String, isValue: Bool) async throws -> PlannedWrite
    {
        let property = set.property(name)
        guard name != set.key.name, property?.isComputed != true else {
            throw Refusal(.badRequest, "the property \(name) is set by the server alone")
        }
        let value: JSON
        if call.method == .delete {
            value = .null
        } else if isValue {
            let text = String(decoding: call.request.body.bytes, as: UTF8.self)
            value = try ValueForm.read(text: text, property, version)
        } else {
            let document = try EntityBody.document(call)
            guard let given = version == .v2 ? document[name] : document["value"] else {
                throw Refusal(.badRequest, "the body is an object with \(version == .v2 ? name : "value")")
            }
            value = given
        }
        // A plain text was already parsed by its type; v2's JSON has times in another form.
        let written = isValue ? ValueForm.written(value, property, version) : value
        let body = try EntityBody(JSON(members: [(name, written)]), call, set)
        var planner = ChangePlanner(call)
        let main = try await planner.update(set, id, body, replacing: false)
        return done(planner, main)
    }
}

/// Changes of links by their addresses: `$ref` in v4, `$links` in v2.
struct LinkWrites {
    let call: ServiceCall

    func write(_ place: ODataTarget, done: (ChangePlanner, Int) -> PlannedWrite) async throws -> PlannedWrite {
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
        _ id: RecordID, _ set: EntitySet, _ step: ODataTarget.Step, _ planner: inout ChangePlanner
    ) async throws {
        guard try await EntityReads(call).contains(id, set, step) else { throw Refusal.missing }
        try planner.refer(set, id, by: step.link.column, to: nil, isMain: false)
    }

    /// Reads the address in the body.
    private func address() throws -> String {
        guard let address = EntityBody.reference(try EntityBody.document(call), call.version) else {
            throw Refusal(
                .badRequest, "the body is an object with \(call.version == .v2 ? "uri" : "@odata.id")")
        }
        return address
    }
}
