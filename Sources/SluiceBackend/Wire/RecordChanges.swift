internal import HTTPTypes
internal import SluiceCore
internal import SluiceSQLite

/// The changing requests of a table. What is decided is decided inside the transaction that writes.
struct RecordChanges: Sendable {
    private let backend: Backend
    private let table: BackendTable
    private let body: Body
    private let conditions: EntityConditions

    init(_ backend: Backend, _ table: BackendTable, _ request: Request) {
        self.backend = backend
        self.table = table
        body = request.body
        conditions = EntityConditions(request.head.headerFields)
    }

    /// A new record: 201, or 409 with the record that has the id, be it a tombstone.
    func insert(_ target: RequestTarget) async throws -> Reply {
        var record = try WireRecord.object(in: body)
        try WireRecord.refuseReserved(in: record, verb: "insert")
        let id: String
        switch record["id"] {
        case nil, .some(.null): id = backend.environment.makeID()
        case .some(let value):
            guard let text = value.string else { throw Refusal(.badRequest, "an id is a text") }
            id = text
        }
        try WireRecord.check(id: id, table: table.name)
        record["id"] = JSON(id)
        record[SystemColumn.version] = nil
        let inserted = record
        let stored = try await write { connection in
            if let existing = try table.record(id, connection) {
                throw Refusal(WireRecord.reply(.conflict, existing))
            }
            return try table.put(inserted, now: backend.environment.now(), connection)
        }
        var reply = WireRecord.reply(.created, stored)
        let path = target.path.hasSuffix("/") ? String(target.path.dropLast()) : target.path
        reply.headers[.location] = "\(target.origin)\(path)/\(PercentEncoding.segment(id))"
        return reply
    }

    /// Changes the properties that the body has, or replaces them all.
    func update(_ id: String, replacing: Bool) async throws -> Reply {
        let changes = try WireRecord.object(in: body)
        try WireRecord.refuseReserved(in: changes, verb: "update")
        if let other = changes["id"], other.string != id {
            throw Refusal(.badRequest, "the id in the body is not the one in the path")
        }
        // A version in the body is a condition too, with an answer of its own (the Node server's rule).
        let expected = conditions.expectsVersion ? nil : changes[SystemColumn.version]?.string
        let stored = try await write { connection in
            let current = try living(id, connection)
            try checkVersion(of: current)
            if let expected, expected != current[SystemColumn.version]?.string {
                throw Refusal(WireRecord.reply(.conflict, current))
            }
            var record = current
            if replacing {
                record = JSON(members: [("id", JSON(id))])
                record[SystemColumn.createdAt] = current[SystemColumn.createdAt]
            }
            for (name, value) in changes.members ?? [] where name != "id" && name != SystemColumn.version {
                record[name] = value
            }
            return try table.put(record, now: backend.environment.now(), connection)
        }
        return WireRecord.reply(.ok, stored)
    }

    /// Makes a tombstone of the record, or removes it where the table keeps none: 204.
    func delete(_ id: String) async throws -> Reply {
        try await write { connection in
            var record = try living(id, connection)
            try checkVersion(of: record)
            guard table.rules.softDelete else { return try table.remove(id, connection) }
            record[SystemColumn.deleted] = true
            _ = try table.put(record, now: backend.environment.now(), connection)
        }
        return Reply(.noContent)
    }

    /// Makes a record of a tombstone again: 201. A living record stays as it is.
    func undelete(_ id: String) async throws -> Reply {
        if !body.isEmpty { _ = try WireRecord.object(in: body) }
        let stored = try await write { connection in
            guard var record = try table.record(id, connection) else { throw Self.missing }
            try checkVersion(of: record)
            guard record[SystemColumn.deleted]?.bool == true else { return record }
            record[SystemColumn.deleted] = false
            return try table.put(record, now: backend.environment.now(), connection)
        }
        return WireRecord.reply(.created, stored)
    }

    private func write<Result: Sendable>(
        _ body: @Sendable (SQLiteConnection) throws -> Result
    ) async throws -> Result { try await backend.database.write(body) }

    private func living(_ id: String, _ connection: SQLiteConnection) throws -> JSON {
        guard let record = try table.record(id, connection), record[SystemColumn.deleted]?.bool != true else {
            throw Self.missing
        }
        return record
    }

    private func checkVersion(of record: JSON) throws {
        guard conditions.allow(record[SystemColumn.version]?.string ?? "") else {
            throw Refusal(WireRecord.reply(.preconditionFailed, record))
        }
    }

    private static var missing: Refusal { Refusal(.notFound, "The item does not exist") }
}
