internal import HTTPTypes
internal import SluiceCore

/// Finds what a request asks for, and turns every failure into an answer of the wire that the request speaks.
struct TableRoutes: Sendable {
    let backend: Backend

    func respond(to request: Request) async -> Response {
        let target = RequestTarget(request.head)
        // Whoever asks for an unknown version is told so as the oldest clients read it.
        var wire = ServerWire.azureV2
        do {
            wire = try ServerWire.of(request.head, target)
            return try await reply(to: request, target, wire).response
        } catch let refusal as Refusal {
            return wire.response(to: refusal, asked: wire.asked(by: target))
        } catch let error as SluiceError {
            return wire.response(to: Refusal(error), asked: [])
        } catch {
            return wire.response(to: Refusal(.internalServerError, "the request failed"), asked: [])
        }
    }

    private func reply(to request: Request, _ target: RequestTarget, _ wire: ServerWire) async throws -> Reply {
        guard target.segments.first == "tables", (2...3).contains(target.segments.count) else {
            throw Refusal(.notFound, "there is nothing at this path; tables are at /tables/NAME")
        }
        guard let table = backend.table(target.segments[1]) else {
            throw Refusal(.notFound, "the table does not exist")
        }
        let request = TableRequest(backend: backend, table: table, wire: wire, target: target, request: request)
        guard target.segments.count == 3 else {
            switch request.head.method {
            case .get: return try await RecordReads(request).list()
            case .post: return try await RecordChanges(request).insert()
            default: throw Refusal.method(allowed: "GET, POST")
            }
        }
        let id = target.segments[2]
        try RequestBody.check(id: id, table: table.name)
        switch request.head.method {
        case .get: return try await RecordReads(request).lookup(id)
        case .patch where wire.patches: return try await RecordChanges(request).update(id, replacing: false)
        case .put: return try await RecordChanges(request).update(id, replacing: true)
        case .delete: return try await RecordChanges(request).delete(id)
        case .post where wire.undelete == .post: return try await RecordChanges(request).undelete(id)
        default: throw Refusal.method(allowed: wire.recordMethods)
        }
    }
}

extension Backend {
    /// The refusal of a request that was not read whole.
    func refuse(_ request: Request, _ status: HTTPResponse.Status, _ reason: String) -> Response {
        let wire = (try? ServerWire.of(request.head, RequestTarget(request.head))) ?? .azureV2
        return wire.response(to: Refusal(status, reason), asked: [])
    }
}
