internal import HTTPTypes
internal import SluiceCore
internal import SluiceSQLite

/// The changing requests of a table. What is decided is decided inside the transaction that writes.
struct RecordChanges: Sendable {
    private let request: TableRequest
    private let conditions: EntityConditions
    private var backend: Backend { request.backend }
    private var table: BackendTable { request.table }
    private var wire: ServerWire { request.wire }

    init(_ request: TableRequest) {
        self.request = request
        conditions = EntityConditions(request.head.headerFields)
    }

    /// A new record: 201, or 409 with the record that has the id, be it a tombstone.
    func insert() async throws -> Reply {
        let body = try RequestBody.object(of: request.request, wire)
        let properties = try wire.properties(of: body, verb: "insert")
        let id: String
        switch body["id"] {
        case nil, .some(.null): id = backend.environment.makeID()
        case .some(let value):
            guard let text = value.string else { throw Refusal(.badRequest, "an id is a text") }
            id = text
        }
        try RequestBody.check(id: id, table: table.name)
        var record: JSON = ["id": JSON(id)]
        for (name, value) in properties { record[name] = value }
        let inserted = record
        let stored = try await write { connection in
            if let existing = try table.record(id, connection) { throw Refusal(.conflict, .record(existing)) }
            return try table.put(inserted, now: backend.environment.now(), connection)
        }
        var reply = request.reply(.created, stored)
        let path = request.target.path
        let base = path.hasSuffix("/") ? String(path.dropLast()) : path
        reply.headers[.location] = "\(request.target.origin)\(base)/\(PercentEncoding.segment(id))"
        return reply
    }

    /// Changes the properties that the body has, or replaces them all.
    func update(_ id: String, replacing: Bool) async throws -> Reply {
        let body = try RequestBody.object(of: request.request, wire)
        let properties = try wire.properties(of: body, verb: "update")
        if let other = body["id"], other.string != id {
            throw Refusal(.badRequest, "the id in the body is not the one in the path")
        }
        let revives = revives(body, replacing: replacing)
        // A version in the body is a condition too, with an answer of its own (the Node server's rule).
        let expected =
            wire.comparesVersionInBody && !conditions.expectsVersion ? body[SystemColumn.version]?.string : nil
        let stored = try await write { connection in
            let current = try revives ? existing(id, connection) : living(id, connection)
            try check(current)
            if let expected, expected != current[SystemColumn.version]?.string {
                throw Refusal(.conflict, .record(current))
            }
            var record = current
            if replacing {
                record = JSON(members: [("id", JSON(id))])
                record[SystemColumn.createdAt] = current[SystemColumn.createdAt]
            }
            for (name, value) in properties { record[name] = value }
            record[SystemColumn.deleted] = false
            return try table.put(record, now: backend.environment.now(), connection)
        }
        return request.reply(.ok, stored)
    }

    /// Makes a tombstone of the record, or removes it where the table keeps none: 204.
    func delete(_ id: String) async throws -> Reply {
        try await write { connection in
            var record = try living(id, connection)
            try check(record)
            guard table.rules.softDelete else { return try table.remove(id, connection) }
            record[SystemColumn.deleted] = true
            _ = try table.put(record, now: backend.environment.now(), connection)
        }
        return Reply(.noContent)
    }

    /// Makes a record of a tombstone again: 201. A living record stays as it is.
    func undelete(_ id: String) async throws -> Reply {
        if !request.request.body.isEmpty { _ = try RequestBody.object(of: request.request, wire) }
        let stored = try await write { connection in
            var record = try existing(id, connection)
            try check(record)
            guard record[SystemColumn.deleted]?.bool == true else { return record }
            record[SystemColumn.deleted] = false
            return try table.put(record, now: backend.environment.now(), connection)
        }
        return request.reply(.created, stored)
    }

    /// Whether an update is the way in which the wire's clients bring a tombstone back.
    private func revives(_ body: JSON, replacing: Bool) -> Bool {
        let deleted = wire.names.wire(SystemColumn.deleted).flatMap { body[$0] }
        return switch wire.undelete {
        case .post: false
        case .patch: !replacing && deleted?.bool == false
        case .put: replacing && request.includesDeleted && deleted?.bool != true
        }
    }

    private func write<Result: Sendable>(
        _ body: @Sendable (SQLiteConnection) throws -> Result
    ) async throws -> Result { try await backend.database.write(body) }

    private func existing(_ id: String, _ connection: SQLiteConnection) throws -> JSON {
        guard let record = try table.record(id, connection) else { throw Refusal.missing }
        return record
    }

    private func living(_ id: String, _ connection: SQLiteConnection) throws -> JSON {
        let record = try existing(id, connection)
        guard record[SystemColumn.deleted]?.bool != true else {
            throw Refusal(wire.tombstone, Refusal.missingReason)
        }
        return record
    }

    private func check(_ record: JSON) throws {
        guard conditions.check(record) == .met else { throw Refusal(.preconditionFailed, .record(record)) }
    }
}
