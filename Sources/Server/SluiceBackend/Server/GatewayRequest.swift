internal import HTTPTypes
internal import SluiceCore

/// One request to the gateway, executed on the local store.
struct GatewayRequest: Sendable {
    let context: SyncContext
    let schema: TableSchema
    let wire: ServerWire
    let target: RequestTarget
    let request: SyncRequest

    private var table: String { schema.name }
    private var asked: Set<PropertyName> { wire.asked(by: target) }
    private var conditions: EntityConditions {
        EntityConditions(request.head.headerFields, isLenient: wire.isLenient)
    }
    private var columns: GatewayColumns { GatewayColumns(context) }

    // MARK: Reading

    func list() async throws -> Reply {
        let columns = columns
        let parameters = try ListParameters(
            target, BackendConfiguration.Table(table), schema, bytes: BackendConfiguration.Limits().pageBytes,
            undeclared: .allowed, includesDeleted: false
        ) { name in wire.names.stored(name).map { columns.local($0) } ?? name }
        var query = parameters.query
        // The store keeps no tombstones: a deleted record is missing from it.
        query.includesDeleted = false
        query.top = parameters.page + (parameters.wantsMore ? 1 : 0)
        let (page, versions, count) = try await context.store.read { [query, table, size = parameters.size] reader in
            var page = RecordPage(size)
            for row in try reader.records(matching: query) {
                guard page.add(row, stored: row.bytes().count) else { break }
            }
            let rows = page.records
            let waiting = try QueueReader(reader).waiting(in: table, among: rows.compactMap { $0["id"]?.textID })
            let versions = try rows.map { row throws -> String? in
                guard let id = row["id"]?.textID, waiting[id] != nil else { return nil }
                // With a selection the row is only a part of the record.
                return try reader.record(id, in: table).map { GatewayVersion.pending(columns.canonical($0)) }
            }
            return (page, versions, query.includesCount ? try reader.count(matching: query) : nil)
        }
        let shown = zip(page.records, versions).map { row, version in
            var stored = columns.canonical(row)
            if let version { stored[SystemColumn.version] = JSON(version) }
            return wire.record(stored, asked: asked)
        }
        var reply = ListReply(wire: wire, target: target, options: []).page(
            shown, count: count, next: page.hasMore ? parameters.next(after: shown.count) : nil)
        mark(&reply, pending: try await pending(nil))
        return reply
    }

    func lookup(_ id: RecordID) async throws -> Reply {
        guard let found = try await found(id) else { throw Refusal.missing }
        var reply: Reply
        switch conditions.check(found.shown, reading: true, orIf: found.isSame) {
        case .met: reply = wire.reply(.ok, found.shown, asked: asked)
        case .failed: throw Refusal(.preconditionFailed, .record(found.shown))
        case .known:
            reply = Reply(.notModified)
            reply.tag(found.shown)
        }
        mark(&reply, pending: found.pending)
        return reply
    }

    // MARK: Writing

    func insert() async throws -> Reply {
        var body = try RequestBody.object(of: request, wire)
        if wire.isLenient, body["id"]?.textID?.isEmpty ?? false { body["id"] = nil }
        var record = JSON.object
        for (name, value) in try wire.properties(of: body, verb: "insert") { record[name] = value }
        if let value = body["id"], value != .null {
            guard let id = value.textID ?? (wire.isLenient ? value.int.map { .string(String($0)) } : nil) else {
                throw Refusal(.badRequest, "an id is a text")
            }
            try RequestBody.check(id: id, table: table)
            record["id"] = JSON(id)
        }
        do {
            let stored = try await context.table(table).insert(record)
            return try await answer(.created, stored)
        } catch let error as SluiceError where error.code == .recordExists {
            guard let id = record["id"]?.textID, let there = try await found(id) else {
                throw Refusal(.conflict, error.message)
            }
            throw Refusal(.conflict, .record(there.shown))
        }
    }

    func update(_ id: RecordID, replacing: Bool) async throws -> Reply {
        let body = try RequestBody.object(of: request, wire)
        guard body["id"].map({ $0 == .null || $0.textID == id }) ?? true else {
            throw Refusal(.badRequest, "the body's id is not the path's")
        }
        let given = try wire.properties(of: body, verb: "update")
        if let decided = try await settle(id, given, replacing: replacing) { return try await answer(.ok, decided) }
        let (conditions, columns, table) = (conditions, columns, table)
        let version =
            wire.comparesVersionInBody && !conditions.expectsVersion
            ? body[SystemColumn.version]?.string : nil
        let stored = try await context.write { transaction -> JSON in
            guard let found = try found(id, in: transaction.store) else { throw Refusal.missing }
            guard conditions.check(found.shown, orIf: found.isSame) == .met else {
                throw Refusal(.preconditionFailed, .record(found.shown))
            }
            if let version, version != found.shown[SystemColumn.version]?.string, !found.isSame(version) {
                throw Refusal(.conflict, .record(found.shown))
            }
            return try transaction.update(
                columns.changes(id, given, to: found.local, replacing: replacing), in: table)
        }
        return try await answer(.ok, stored)
    }

    func delete(_ id: RecordID) async throws -> Reply {
        if let operation = try await told(id) {
            try await context.queue.resolve(operation.id, .delete)
        } else {
            let (conditions, table) = (conditions, table)
            try await context.write { transaction in
                guard let found = try found(id, in: transaction.store) else { throw Refusal.missing }
                guard conditions.check(found.shown, orIf: found.isSame) == .met else {
                    throw Refusal(.preconditionFailed, .record(found.shown))
                }
                try transaction.delete(id: id, in: table)
            }
        }
        var reply = Reply(.noContent)
        mark(&reply, pending: try await pending(id))
        return reply
    }

    func undelete(_ id: RecordID) async throws -> Reply {
        try await context.table(table).undelete(id: id)
        guard let record = try await context.table(table).lookup(id: id) else {
            // The record exists on the server, and the next push reads it.
            var reply = Reply(.accepted)
            mark(&reply, pending: try await pending(id))
            return reply
        }
        return try await answer(.created, record)
    }

    /// A record with the number of its pending operations, read at one moment.
    private struct Found: Sendable {
        /// The record in the store's form.
        var local: JSON
        /// The record with the wires' column names.
        var stored: JSON
        var pending: Int

        var shown: JSON { GatewayVersion.shown(stored, isPending: pending > 0) }
        /// Whether a version was shown for a record of the same content.
        func isSame(_ version: String) -> Bool { GatewayVersion.isSame(version, as: stored) }
    }

    private func found(_ id: RecordID) async throws -> Found? {
        try await context.store.read { try found(id, in: $0) }
    }

    private func found(_ id: RecordID, in reader: any StoreReader) throws -> Found? {
        try reader.record(id, in: table).map { local in
            let pending = try QueueReader(reader).all(on: id, in: table).count
            return Found(local: local, stored: columns.canonical(local), pending: pending)
        }
    }

    // MARK: Conflicts

    /// Returns a held conflict with the server's record. Old clients learn of it in the way they know: their next write
    /// is refused with 412 and that record.
    private func held(_ id: RecordID) async throws -> (operation: TableOperation, server: JSON)? {
        let operations = try await context.queue.operations(
            TableOperation.Filter(states: [.parked], table: table, recordID: id))
        let isTold = { (operation: TableOperation) in
            operation.isHeldConflict && [409, 412].contains(operation.failure?.status ?? 0)
        }
        guard let operation = operations.first(where: isTold),
            let server = try await context.queue.copies(of: operation).mirror
        else { return nil }
        return (operation, columns.canonical(server))
    }

    /// Returns the held conflict that the write decides: it names the server's version, so its client has seen that record.
    ///
    /// - Returns: nil if no conflict is held.
    /// - Throws: the refusal with the server's record for a write that names another version, or any.
    private func told(_ id: RecordID) async throws -> TableOperation? {
        guard let (operation, server) = try await held(id) else { return nil }
        guard conditions.namesVersion, conditions.check(server) == .met else {
            throw Refusal(.preconditionFailed, .record(server))
        }
        return operation
    }

    /// Resolves a held conflict by the record that the client has merged.
    ///
    /// - Returns: the record after the decision; nil if no conflict is held.
    private func settle(
        _ id: RecordID, _ given: [(name: PropertyName, value: JSON)], replacing: Bool
    ) async throws -> JSON? {
        guard let operation = try await told(id) else { return nil }
        let base = try await context.queue.copies(of: operation).mirror ?? .object
        var merged = replacing ? JSON.object : base
        merged["id"] = JSON(id)
        for (name, value) in given { merged[name] = value }
        try await context.queue.resolve(operation.id, .replace(merged))
        return try await context.table(table).lookup(id: id)
    }

    // MARK: Answers

    private func answer(_ status: HTTPResponse.Status, _ record: JSON) async throws -> Reply {
        let id = record["id"]?.textID
        var found = Found(local: record, stored: columns.canonical(record), pending: 0)
        // A write's result lacks the server's columns, so the record is read from the store.
        if let id, let there = try await self.found(id) { found = there }
        var reply = wire.reply(status, found.shown, asked: asked)
        mark(&reply, pending: found.pending)
        if status == .created, let id {
            reply.headers[HTTPField.Name.location] =
                "\(target.origin)/tables/\(PercentEncoding.segment(table))/\(PercentEncoding.segment("\(id)"))"
        }
        return reply
    }

    private func pending(_ id: RecordID?) async throws -> Int {
        try await context.store.read { [table] reader in
            if let id { return try QueueReader(reader).all(on: id, in: table).count }
            return try reader.count(
                matching: TableQuery(TableOperation.schema.name).where(column("table") == TableQuery.Term(table)))
        }
    }

    private func mark(_ reply: inout Reply, pending: Int) {
        if let name = HTTPField.Name("X-Sluice-Pending") { reply.headers[name] = "\(pending)" }
        if let name = HTTPField.Name("X-Sluice-Source") { reply.headers[name] = "local" }
    }
}

/// Maps the system columns' names between the store, which uses its server's names, and the gateway's wires.
struct GatewayColumns: Sendable {
    private let pairs: [(local: PropertyName, stored: PropertyName)]
    private let system: Set<PropertyName>

    init(_ context: SyncContext) {
        let dialect = context.client?.dialect ?? context.options.dialect
        let columns = dialect.columns
        pairs =
            [
                (columns.version, SystemColumn.version), (columns.updatedAt, SystemColumn.updatedAt),
                (columns.deleted, SystemColumn.deleted),
            ] + (columns.createdAt.map { [($0, SystemColumn.createdAt)] } ?? [])
        system = Set(pairs.map(\.local)).union([columns.id])
    }

    func local(_ stored: PropertyName) -> PropertyName { pairs.first { $0.stored == stored }?.local ?? stored }

    /// Returns a record of the store with the wires' column names.
    func canonical(_ record: JSON) -> JSON {
        var record = record
        for (local, stored) in pairs where local != stored {
            if let value = record[local] {
                record[local] = nil
                record[stored] = value
            }
        }
        if record[SystemColumn.deleted] == nil { record[SystemColumn.deleted] = false }
        return record
    }

    /// Returns an update's changes; a replacement sets all other properties to null.
    func changes(
        _ id: RecordID, _ given: [(name: PropertyName, value: JSON)], to current: JSON, replacing: Bool
    ) -> JSON {
        var changes: JSON = ["id": JSON(id)]
        if replacing { for name in current.names where !system.contains(name) { changes[name] = .null } }
        for (name, value) in given { changes[name] = value }
        return changes
    }
}
