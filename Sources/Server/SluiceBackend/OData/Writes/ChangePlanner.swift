internal import HTTPTypes
internal import SluiceCore

/// Plans the record changes of a request: the entity itself, new related entities, and records with changed references.
struct ChangePlanner {
    let call: ServiceCall
    private(set) var changes: [PlannedChange] = []

    /// The most records in one request, and the deepest nesting of new entities.
    private static let (most, deepest) = (200, 5)

    init(_ call: ServiceCall) { self.call = call }

    // MARK: Entities

    /// Plans a new entity with its new related ones, and returns its index in the changes.
    ///
    /// - Parameter owner: the entity with the link to the new one.
    mutating func insert(
        _ set: EntitySet, _ body: EntityBody, owner: (column: PropertyName, id: RecordID)? = nil, link: String? = nil,
        isMain: Bool, knowsID: Bool, depth: Int = 0
    ) async throws -> Int {
        guard depth < Self.deepest else {
            throw Refusal(.badRequest, "new entities stand in each other deeper than \(Self.deepest) levels")
        }
        var members = body.properties
        if let owner { Self.put(Self.reference(owner.id, owner.column, set), owner.column, &members) }
        for (link, linked) in body.links where !link.isCollection {
            Self.put(
                try await target(of: link, linked, from: set, depth: depth).map { Self.reference($0, link.column, set) }
                    ?? .null, link.column, &members)
        }
        if !set.hasIntegerIDs || body.key?.int != 0, let key = body.key { members.insert(("id", key), at: 0) }
        var id: RecordID?
        if knowsID || body.links.contains(where: { $0.link.isCollection }) {
            id = try await newID(set, body.key)
        }
        var request = call.tableRequest(set, method: .post, body: JSON(members: members), isMain: isMain)
        request.newID = id
        try add(PlannedChange(set: set, kind: .insert, request: request, link: link))
        let index = changes.count - 1
        guard let id else { return index }
        for (link, linked) in body.links where link.isCollection {
            try await attach(linked, by: link, to: id, depth: depth)
        }
        return index
    }

    /// Plans a change of an entity, and returns its index in the changes.
    mutating func update(
        _ set: EntitySet, _ id: RecordID, _ body: EntityBody, replacing: Bool
    ) async throws -> Int {
        var members = body.properties
        for (link, linked) in body.links {
            if case .entities = linked {
                throw Refusal(.notImplemented, "a change brings no new entities along; send \(link.name) by itself")
            }
            guard !link.isCollection else { continue }
            Self.put(
                try await target(of: link, linked, from: set, depth: 0).map { Self.reference($0, link.column, set) }
                    ?? .null, link.column, &members)
        }
        let method: HTTPRequest.Method = replacing ? .put : .patch
        let request = call.tableRequest(set, id, method: method, body: JSON(members: members), isMain: true)
        try add(PlannedChange(set: set, kind: .update(id, replacing: replacing), request: request))
        let index = changes.count - 1
        for (link, linked) in body.links where link.isCollection {
            try await attach(linked, by: link, to: id, depth: 0)
        }
        return index
    }

    mutating func delete(_ set: EntitySet, _ id: RecordID) throws {
        let request = call.tableRequest(set, id, method: .delete, isMain: true)
        try add(PlannedChange(set: set, kind: .delete(id), request: request))
    }

    /// Plans a record's reference to another, or to none.
    mutating func refer(
        _ set: EntitySet, _ id: RecordID, by column: PropertyName, to other: RecordID?, isMain: Bool
    ) throws {
        let value = other.map { Self.reference($0, column, set) } ?? .null
        let request = call.tableRequest(
            set, id, method: .patch, body: JSON(members: [(column, value)]), isMain: isMain)
        try add(PlannedChange(set: set, kind: .update(id, replacing: false), request: request))
    }

    private mutating func add(_ change: PlannedChange) throws {
        guard changes.count < Self.most else {
            throw Refusal(.badRequest, "a request changes \(Self.most) entities at the most")
        }
        changes.append(change)
    }

    // MARK: Links

    /// Returns the id of a single-valued link's target; a new target is planned.
    private mutating func target(
        of link: EntitySet.Link, _ linked: EntityBody.Linked, from set: EntitySet, depth: Int
    ) async throws -> RecordID? {
        let target = try self.set(of: link)
        switch linked {
        case .none: return nil
        case .addresses(let addresses): return try await id(addresses.first ?? "", in: target)
        case .entities(let entities):
            let body = try EntityBody(entities.first ?? .object, call, target)
            let index = try await insert(
                target, body, link: link.name, isMain: false, knowsID: true, depth: depth + 1)
            return changes[index].request.newID
        }
    }

    /// Plans the references of a collection link's entities to the owner.
    private mutating func attach(
        _ linked: EntityBody.Linked, by link: EntitySet.Link, to id: RecordID, depth: Int
    ) async throws {
        let target = try set(of: link)
        switch linked {
        case .none: return
        case .addresses(let addresses):
            for address in addresses {
                try refer(
                    target, try await self.id(address, in: target), by: link.column, to: id, isMain: false)
            }
        case .entities(let entities):
            for entity in entities {
                let body = try EntityBody(entity, call, target)
                _ = try await insert(
                    target, body, owner: (link.column, id), link: link.name, isMain: false, knowsID: false,
                    depth: depth + 1)
            }
        }
    }

    /// Returns the id of an existing entity by its address.
    ///
    /// - Throws: ``Refusal`` (400) for the address of anything else, or outside of the request's scope.
    func id(_ address: String, in set: EntitySet) async throws -> RecordID {
        let place = try await Navigator(call: call, operations: []).place(try call.segments(of: address))
        guard case .entity(let found, let id, _) = place.subject, place.suffix == nil, found.name == set.name else {
            throw Refusal(.badRequest, "\(address) is not the address of an entity of \(set.name)")
        }
        if call.created.contains(id) { return id }
        do {
            _ = try await EntityReads(call).found(set, id)
        } catch let refusal as Refusal where refusal.status == .notFound {
            throw Refusal(.badRequest, "there is no entity at \(address)")
        }
        return id
    }

    private func set(of link: EntitySet.Link) throws -> EntitySet {
        guard let set = call.model.set(link.target) else { throw Refusal.missing }
        return set
    }

    /// Returns the id of a new entity: from the body, or newly made.
    private func newID(_ set: EntitySet, _ given: JSON?) async throws -> RecordID {
        if let given, !set.hasIntegerIDs {
            guard let id = given.textID else { throw Refusal(.badRequest, "an id is a text") }
            try RequestBody.check(id: id, table: set.table.name)
            return id
        }
        guard given == nil || given?.int == 0 else {
            throw Refusal(.badRequest, "the server gives out this table's ids")
        }
        let served = call.served
        return try await served.database.write { try set.table.makeID(served.environment, $0) }
    }

    /// An id as the value of a column.
    static func reference(_ id: RecordID, _ column: PropertyName, _ set: EntitySet) -> JSON {
        let isNumber = set.table.schema.column(column)?.type == .integer
        return isNumber ? Int64(id.text).map { JSON($0) } ?? JSON(id.text) : JSON(id.text)
    }

    private static func put(_ value: JSON, _ name: PropertyName, _ members: inout [(name: PropertyName, value: JSON)]) {
        members.removeAll { $0.name == name }
        members.append((name, value))
    }
}
