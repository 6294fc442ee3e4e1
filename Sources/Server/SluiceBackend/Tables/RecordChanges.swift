internal import HTTPTypes
internal import SluiceCore

/// The changing requests of a table. All decisions are made inside the writing transaction.
struct RecordChanges: Sendable {
    private let request: TableRequest
    private let conditions: EntityConditions
    private var served: ServedTables { request.served }
    private var table: BackendTable { request.table }
    private var wire: ServerWire { request.wire }

    init(_ request: TableRequest) {
        self.request = request
        conditions = EntityConditions(request.head.headerFields, isLenient: request.wire.isLenient)
    }

    /// Inserts a record: 201, or 409 with the record or tombstone of that id.
    func insert() async throws -> Reply {
        let session = try await request.session(.insert)
        let body = try RequestBody.object(of: request.request, wire)
        let properties = try wire.properties(of: body, verb: "insert")
        let id = if let known = request.newID { known } else { try await newID(body["id"]) }
        let record = JSON(members: [("id", JSON(id))] + properties)
        return try await session.change(id, { _ in record }, reply: created) { changed, scope, connection in
            if let existing = try table.obstacle(id, in: scope, connection) {
                guard wire.insertsOverTombstones, existing[SystemColumn.deleted]?.bool == true else {
                    throw ChangeConflict(server: existing, status: .conflict)
                }
                try Permission.check(.undelete, table.rules, session.principal)
            }
            return try table.put(scope.stamped(changed ?? record), now: served.environment.now(), connection)
        }
    }

    /// Returns the answer to an insert, with the address of the new record.
    private func created(_ stored: JSON) -> Reply {
        var reply = request.reply(.created, stored)
        let path = request.target.clientPath
        let base = path.hasSuffix("/") ? String(path.dropLast()) : path
        reply.headers[.location] =
            "\(request.target.origin)\(base)/\(PercentEncoding.segment(stored["id"]?.string ?? ""))"
        return reply
    }

    /// Returns the id of a new record: from the body, or assigned by the server.
    private func newID(_ given: JSON?) async throws -> RecordID {
        if wire.isLenient, given?.string?.isEmpty == true { return try await newID(nil) }
        switch given {
        case nil, .some(.null):
            if table.rules.ids == .string { return RecordID(served.environment.makeID()) }
            return try await served.database.write { try table.makeID(served.environment, $0) }
        case .some(let value) where table.rules.ids == .integer:
            guard value.int == 0 else { throw Refusal(.badRequest, "the server gives out this table's ids") }
            return try await newID(nil)
        case .some(let value):
            guard let id = value.textID ?? (wire.isLenient ? value.int.map { RecordID.string(String($0)) } : nil) else {
                throw Refusal(.badRequest, "an id is a text")
            }
            try RequestBody.check(id: id, table: table.name)
            return id
        }
    }

    /// Changes the properties in the body, or replaces all properties.
    func update(_ id: RecordID, replacing: Bool) async throws -> Reply {
        let session = try await request.session(.update)
        let update = try RecordUpdate(request, replacing: replacing, id: id)
        // A version in the body is a condition too, with its own answer (the Node server's rule).
        let expected = conditions.expectsVersion ? nil : update.versionInBody
        let asked = { @Sendable stored in try update.record(id, stored: stored) }
        return try await session.change(
            id, asked, replaces: update.replaces, reply: { request.reply(.ok, $0) }
        ) { changed, scope, connection in
            let current = try update.revives ? existing(id, scope, connection) : living(id, scope, connection)
            if current[SystemColumn.deleted]?.bool == true {
                try Permission.check(.undelete, table.rules, session.principal)
            }
            try check(current)
            if let expected, expected != current[SystemColumn.version]?.string {
                throw ChangeConflict(server: current, status: .conflict)
            }
            let record = try update.giving(changed).applied(to: current)
            return try table.put(scope.stamped(record), now: served.environment.now(), connection)
        }
    }

    /// Turns the record into a tombstone, or removes it if the table keeps none: 204.
    func delete(_ id: RecordID) async throws -> Reply {
        try await request.session(.delete).change(id, reply: { _ in Reply(.noContent) }) { _, scope, connection in
            var record = try living(id, scope, connection)
            try check(record)
            guard table.rules.softDelete else {
                try table.remove(id, now: served.environment.now(), connection)
                return record
            }
            record[SystemColumn.deleted] = true
            return try table.put(record, now: served.environment.now(), connection)
        }
    }

    /// Undeletes a tombstone: 201. A living record stays unchanged.
    func undelete(_ id: RecordID) async throws -> Reply {
        let session = try await request.session(.undelete)
        if !request.request.body.isEmpty { _ = try RequestBody.object(of: request.request, wire) }
        return try await session.change(id, reply: { request.reply(.created, $0) }) { _, scope, connection in
            var record = try existing(id, scope, connection)
            try check(record)
            guard record[SystemColumn.deleted]?.bool == true else { return record }
            record[SystemColumn.deleted] = false
            return try table.put(record, now: served.environment.now(), connection)
        }
    }

    private func existing(_ id: RecordID, _ scope: RowScope, _ connection: any StorageConnection) throws -> JSON {
        guard let record = try table.record(id, in: scope, connection) else { throw Refusal.missing }
        return record
    }

    private func living(_ id: RecordID, _ scope: RowScope, _ connection: any StorageConnection) throws -> JSON {
        let record = try existing(id, scope, connection)
        guard record[SystemColumn.deleted]?.bool != true else {
            throw Refusal(wire.tombstone, Refusal.missingReason)
        }
        return record
    }

    private func check(_ record: JSON) throws {
        guard conditions.check(record) == .met else {
            throw ChangeConflict(server: record, status: .preconditionFailed)
        }
    }
}
