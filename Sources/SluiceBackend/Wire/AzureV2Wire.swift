internal import HTTPTypes
internal import SluiceCore

/// The tables protocol of Azure Mobile Apps (`ZUMO-API-VERSION: 2.0.0`): finds what a request asks for, and turns every
/// failure into an answer.
struct AzureV2Wire: Sendable {
    let backend: Backend

    func respond(to request: Request) async -> Response {
        do {
            return try await reply(to: request).response
        } catch let refusal as Refusal {
            return refusal.reply.response
        } catch let error as SluiceError {
            return Self.reply(for: error).response
        } catch {
            return Reply.failure(.internalServerError, "the request failed").response
        }
    }

    private func reply(to request: Request) async throws -> Reply {
        let target = RequestTarget(request.head)
        guard target.segments.first == "tables", (2...3).contains(target.segments.count) else {
            throw Refusal(.notFound, "there is nothing at this path; tables are at /tables/NAME")
        }
        try checkVersion(request.head, target)
        guard let table = backend.table(target.segments[1]) else {
            throw Refusal(.notFound, "the table does not exist")
        }
        if target.segments.count == 2 {
            switch request.head.method {
            case .get: return try await RecordReads(backend, table).list(target)
            case .post: return try await RecordChanges(backend, table, request).insert(target)
            default: throw Self.methodNotAllowed("GET, POST")
            }
        }
        let id = target.segments[2]
        try WireRecord.check(id: id, table: table.name)
        let changes = RecordChanges(backend, table, request)
        switch request.head.method {
        case .get: return try await RecordReads(backend, table).lookup(id, target, request.head.headerFields)
        case .patch: return try await changes.update(id, replacing: false)
        case .put: return try await changes.update(id, replacing: true)
        case .delete: return try await changes.delete(id)
        case .post: return try await changes.undelete(id)
        default: throw Self.methodNotAllowed("GET, PATCH, PUT, DELETE, POST")
        }
    }

    /// Clients say which protocol they speak, in a header or in the query.
    private func checkVersion(_ head: HTTPRequest, _ target: RequestTarget) throws {
        let field = HTTPField.Name("ZUMO-API-VERSION").flatMap { head.headerFields[$0] }
        let version = target.values("zumo-api-version").first ?? field ?? ""
        let last = version.dropFirst(4)
        guard version.hasPrefix("2.0."), !last.isEmpty, last.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw Refusal(
                .badRequest,
                "An invalid API version was specified in the request, this request needs to specify a "
                    + "ZUMO-API-VERSION of 2.0.0.")
        }
    }

    private static func methodNotAllowed(_ allowed: String) -> Refusal {
        var reply = Reply.failure(.methodNotAllowed, "this path allows \(allowed)")
        reply.headers[.allow] = allowed
        return Refusal(reply)
    }

    /// What the database said, without what it said it about.
    private static func reply(for error: SluiceError) -> Reply {
        switch error.code {
        case .invalidQuery, .invalidRecord, .invalidArgument: return .failure(.badRequest, error.message)
        case .storeBusy:
            var reply = Reply.failure(.serviceUnavailable, "the database is busy; try again")
            reply.headers[.retryAfter] = "1"
            return reply
        case .storeFull: return .failure(.insufficientStorage, "the server's disk is full")
        default: return .failure(.internalServerError, "the server's database failed (\(error.code))")
        }
    }
}

extension HTTPResponse.Status {
    fileprivate static let insufficientStorage = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}
