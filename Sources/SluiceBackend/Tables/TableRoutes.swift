internal import HTTPTypes
internal import SluiceCore

/// Finds what a request asks for, and turns every failure into an answer of the wire that the request speaks.
struct TableRoutes: Sendable {
    let served: ServedTables
    /// What a batch pays for its parts with; nil where there is no limit, and for what is a part.
    var allowance: Allowance?
    /// The changes that those of this request are carried out with, and which of them it is.
    var group: (writes: WriteGroup, part: Int)?

    func respond(to request: Request) async -> Response {
        let target = RequestTarget(request.head)
        // Whoever asks for an unknown version is told so as the oldest clients read it.
        var wire = ServerWire.azureV2
        do {
            wire = try ServerWire.of(request.head, target)
            return try await reply(to: request, target, wire).response
        } catch {
            return wire.response(
                to: served.refusal(of: error, request.head), asked: error is Refusal ? wire.asked(by: target) : [])
        }
    }

    private func reply(to request: Request, _ target: RequestTarget, _ wire: ServerWire) async throws -> Reply {
        guard target.segments.first == "tables", (2...3).contains(target.segments.count) else {
            throw Refusal(.notFound, "there is nothing at this path; tables are at /tables/NAME")
        }
        if target.segments == ["tables", BatchRequest.name] {
            guard request.head.method == .post else { throw Refusal.method(allowed: "POST") }
            return try await BatchRun(served, request, target, wire, allowance).reply()
        }
        guard let table = served.table(target.segments[1]) else {
            throw Refusal(.notFound, "the table does not exist")
        }
        var request = TableRequest(
            served: served, table: table, wire: wire, target: target, request: request, group: group)
        guard request.head.method != .get else { return try await read(request) }
        guard let repeatable = try RepeatableRequest(request) else { return try await change(request) }
        request.repeatable = repeatable
        do {
            var reply = try await change(request)
            RepeatableRequest.accept(&reply.headers)
            return reply
        } catch var refusal as Refusal {
            RepeatableRequest.accept(&refusal.headers)
            throw refusal
        }
    }

    private func read(_ request: TableRequest) async throws -> Reply {
        guard let id = try id(request) else { return try await RecordReads(request).list() }
        // An id is encoded on its way.
        if request.target.path.hasSuffix("/\(DigestReads.name)") { return try await DigestReads(request).digest() }
        return try await RecordReads(request).lookup(id)
    }

    private func change(_ request: TableRequest) async throws -> Reply {
        let wire = request.wire
        guard let id = try id(request) else {
            if request.head.method == .post { return try await RecordChanges(request).insert() }
            guard wire.isLenient, request.head.method == .patch else {
                throw Refusal.method(allowed: wire.tableMethods)
            }
            return try await RecordChanges(request).update(try idInBody(request), replacing: false)
        }
        switch request.head.method {
        case .patch where wire.patches: return try await RecordChanges(request).update(id, replacing: false)
        case .put: return try await RecordChanges(request).update(id, replacing: true)
        case .delete: return try await RecordChanges(request).delete(id)
        case .post where wire.undelete == .post: return try await RecordChanges(request).undelete(id)
        default: throw Refusal.method(allowed: wire.recordMethods)
        }
    }

    /// The id that the body names.
    private func idInBody(_ request: TableRequest) throws -> RecordID {
        let given = try RequestBody.object(of: request.request, request.wire)["id"]
        guard let id = given?.textID ?? given?.int.map({ RecordID.string(String($0)) }), !id.isEmpty else {
            throw Refusal(.badRequest, "a PATCH of a table needs the record's id in its body")
        }
        try RequestBody.check(id: id, table: request.table.name)
        return id
    }

    /// The id that the path ends with; nil for the table's own path.
    private func id(_ request: TableRequest) throws -> RecordID? {
        guard request.target.segments.count == 3 else { return nil }
        let id = RecordID(request.target.segments[2])
        try RequestBody.check(id: id, table: request.table.name)
        return id
    }
}
