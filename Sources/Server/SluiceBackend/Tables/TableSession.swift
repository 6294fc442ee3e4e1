internal import HTTPTypes
internal import Logging
internal import SluiceCore

/// One permitted request's access to one table: the records within its scope, and the hooks around its operation.
struct TableSession: Sendable {
    /// The most rounds of hook calls after concurrent changes of the record.
    static let maximumRounds = 5

    let table: BackendTable
    let operation: BackendOperation
    let principal: Principal?
    /// The records that the request may see and change, before hooks narrow them.
    let scope: RowScope
    let hooks: (any TableHooks)?
    let served: ServedTables
    /// The request's id if it is repeatable.
    var repeatable: RepeatableRequest?
    /// The atomic group of the change, with its index in it.
    var group: (writes: WriteGroup, part: Int)?
    /// Whether answers show null for missing properties that other visible records have.
    var completes = false

    // MARK: Reading

    /// Runs the hooks before a read, and returns the scope for it.
    func willRead(id: RecordID? = nil, query: TableQuery? = nil) async throws -> RowScope {
        guard let hooks else { return scope }
        var request = HookRequest(self, id: id)
        request.query = query
        try await asking { try await hooks.before(&request) }
        return scope.narrowed(byHook: request.filter)
    }

    /// Runs the hooks after the operation; returns the records for the answer.
    func answering(_ records: [JSON]) async throws -> [JSON] {
        guard let hooks else { return records }
        var answer = HookAnswer(self, records)
        try await asking { try await hooks.after(&answer) }
        return answer.records
    }

    // MARK: Changing

    /// Runs a change with the hooks around it, and answers with the record after the hooks. The repeat of an executed
    /// change gets the remembered answer, without hooks.
    ///
    /// Hooks run outside any transaction. They are called again if the record has changed before the transaction.
    ///
    /// - Parameters:
    ///   - record: returns the request's record with its id, for the given stored one; called only if there are hooks.
    ///   - replaces: whether this is the whole record instead of the changes.
    ///   - reply: makes the answer of a record.
    ///   - write: decides and writes, inside a transaction, and returns the stored record (or the last state of a
    ///     removed one). It gets `record` after the hooks, or nil without hooks, and throws ``ChangeConflict`` if the
    ///     request is based on another version.
    func change(
        _ id: RecordID, _ record: @Sendable (_ stored: JSON?) throws -> JSON? = { _ in nil }, replaces: Bool = false,
        reply: @escaping @Sendable (_ record: JSON) -> Reply,
        _ write:
            @escaping @Sendable (_ changed: JSON?, _ scope: RowScope, _ connection: any StorageConnection) throws ->
            JSON
    ) async throws -> Reply {
        do {
            if let repeatable {
                if let effect = try await served.database.read({ try repeatable.effect($0) }) {
                    return try await again(effect, reply)
                }
                try repeatable.checkAge(now: served.environment.now())
            }
            return try await answer(try await stored(id, record, replaces, reply, write), reply)
        } catch let before as CarriedOut {
            return try await again(before.effect, reply)
        }
    }

    /// Returns the answer to a repeat. The hooks run now if they have not run on the answer yet.
    private func again(_ effect: RememberedEffect, _ reply: (JSON) -> Reply) async throws -> Reply {
        guard let stored = effect.stored else { return effect.reply }
        return try await answer(stored, reply)
    }

    private func answer(_ stored: JSON, _ reply: (JSON) -> Reply) async throws -> Reply {
        let reply = reply(try await answering([stored]).first ?? stored)
        if hooks != nil, let repeatable {
            try await served.database.write { try repeatable.finish(reply, $0) }
        }
        return reply
    }

    private func stored(
        _ id: RecordID, _ record: @Sendable (JSON?) throws -> JSON?, _ replaces: Bool,
        _ reply: @escaping @Sendable (JSON) -> Reply,
        _ write: @escaping @Sendable (JSON?, RowScope, any StorageConnection) throws -> JSON
    ) async throws -> JSON {
        guard let hooks else {
            do {
                return try await writing(scope, reply) { try write(nil, scope, $0) }
            } catch let conflict as ChangeConflict {
                throw conflict.refusal
            }
        }
        for _ in 0..<Self.maximumRounds {
            let seen = try await served.database.read { try table.record(id, in: scope, $0) }
            let original = try record(seen)
            var request = HookRequest(self, id: id)
            request.record = original
            request.replaces = replaces
            request.stored = seen
            try await asking { try await hooks.before(&request) }
            let changed = original.flatMap { Self.cleaned(request.record, as: $0) }
            if original != nil, changed == nil { throw Self.failed }
            let narrowed = scope.narrowed(byHook: request.filter)
            do {
                return try await writing(narrowed, reply) { connection in
                    try expect(seen, id, connection)
                    return try write(changed, narrowed, connection)
                }
            } catch let conflict as ChangeConflict {
                return try await merging(conflict, id, changed, replaces, narrowed, hooks, reply)
            } catch is RecordMoved {
                continue
            }
        }
        throw Self.busy
    }

    /// Asks the hooks for a merged record and writes it over the server's, if that is still unchanged.
    private func merging(
        _ conflict: ChangeConflict, _ id: RecordID, _ client: JSON?, _ replaces: Bool, _ scope: RowScope,
        _ hooks: any TableHooks, _ reply: @escaping @Sendable (JSON) -> Reply
    ) async throws -> JSON {
        // A delete cannot be merged.
        guard let client else { throw try await refusal(of: conflict) }
        var conflict = conflict
        for _ in 0..<Self.maximumRounds {
            let question = HookConflict(self, id, client: client, conflict, replaces: replaces)
            guard let merged = try await asking({ try await hooks.conflict(question) }) else {
                throw try await refusal(of: conflict)
            }
            guard merged.kind == .object else { throw Self.failed }
            do {
                return try await writing(scope, reply) { [server = conflict.server] connection in
                    try expect(server, id, connection)
                    if merged == server, server[SystemColumn.deleted]?.bool != true { return server }
                    var record =
                        Self.cleaned(merged, as: JSON(members: [(SystemColumn.deleted, JSON(false))])) ?? merged
                    record["id"] = JSON(id)
                    record[SystemColumn.createdAt] = server[SystemColumn.createdAt]
                    return try table.put(scope.stamped(record), now: served.environment.now(), connection)
                }
            } catch is RecordMoved {
                guard let newer = try await served.database.read({ try table.record(id, in: scope, $0) }) else {
                    throw Self.busy
                }
                conflict.server = newer
            }
        }
        throw Self.busy
    }

    /// Returns the refusal with the server's record after the hooks of a read, so that hidden values stay hidden.
    private func refusal(of conflict: ChangeConflict) async throws -> Refusal {
        let reading = TableSession(
            table: table, operation: .read, principal: principal, scope: scope,
            hooks: served.hooks[table.name]?.forRequest(), served: served)
        let shown = try await reading.answering([conflict.server]).first ?? conflict.server
        return Refusal(conflict.status, .record(shown))
    }

    /// Runs a write in a transaction, and remembers its effect there.
    private func writing(
        _ scope: RowScope, _ reply: @escaping @Sendable (JSON) -> Reply, _ body: @escaping WriteGroup.Write
    ) async throws -> JSON {
        let completes = completes && !scope.isNarrowedByHook
        let carryOut: WriteGroup.Write = { connection in
            let stored = try body(connection)
            return completes ? try table.completed([stored], selected: [], connection).first ?? stored : stored
        }
        let write: WriteGroup.Write = { connection in
            guard let repeatable else { return try carryOut(connection) }
            // A repeat sent at the same time may have been faster.
            if let effect = try repeatable.effect(connection) { throw CarriedOut(effect: effect) }
            let stored = try carryOut(connection)
            let effect = RememberedEffect(reply: reply(stored), stored: hooks == nil ? nil : stored)
            try repeatable.remember(effect, now: served.environment.now(), connection)
            return stored
        }
        if let (writes, part) = group { return try await writes.write(part, write) }
        return try await served.database.write(write)
    }

    /// Checks, inside the transaction, that the record is unchanged since the hooks.
    private func expect(_ seen: JSON?, _ id: RecordID, _ connection: any StorageConnection) throws {
        let current = try table.record(id, in: scope, connection)
        guard current?[SystemColumn.version] == seen?[SystemColumn.version] else { throw RecordMoved() }
    }

    /// Returns a hook's record with the id and the server's columns of `original`.
    private static func cleaned(_ record: JSON?, as original: JSON) -> JSON? {
        guard var record, record.kind == .object else { return nil }
        for name in ["id"] + SystemColumn.all { record[name] = original[name] }
        return record
    }

    /// Calls a hook. Its refusals become answers; other errors are hidden from the client.
    private func asking<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let refusal as HookRefusal {
            let status = (400...599).contains(refusal.status) ? refusal.status : 500
            throw Refusal(HTTPResponse.Status(code: status), refusal.message)
        } catch let error as CancellationError {
            throw error
        } catch {
            served.logger.error("a hook failed", error: error, metadata: ["table": "\(table.name)"])
            throw Self.failed
        }
    }

    private static var failed: Refusal { Refusal(.internalServerError, "a hook of the table failed") }

    private static var busy: Refusal {
        var refusal = Refusal(.serviceUnavailable, "the record is being changed by others; try again")
        refusal.headers[.retryAfter] = "1"
        return refusal
    }

    /// The record has changed since the hooks.
    private struct RecordMoved: Error {}

    /// The request was executed before.
    private struct CarriedOut: Error {
        var effect: RememberedEffect
    }
}

// Conversions from a session to the values of hooks.

extension HookRequest {
    init(_ session: TableSession, id: RecordID?) {
        table = session.table.name
        operation = session.operation
        principal = session.principal
        recordID = id
    }
}

extension HookAnswer {
    init(_ session: TableSession, _ records: [JSON]) {
        table = session.table.name
        operation = session.operation
        principal = session.principal
        self.records = records
    }
}

extension HookConflict {
    init(_ session: TableSession, _ id: RecordID, client: JSON, _ conflict: ChangeConflict, replaces: Bool) {
        table = session.table.name
        operation = session.operation
        principal = session.principal
        recordID = id
        self.client = client
        server = conflict.server
        status = conflict.status.code
        self.replaces = replaces
    }
}
