internal import HTTPTypes
internal import SluiceCore

/// The refusal of a request; thrown out of a transaction it rolls the transaction back.
struct Refusal: Error {
    /// The body of the refusal.
    enum Content: Sendable {
        /// A reason for a person.
        case reason(String)
        /// The conflicting record in its stored form.
        case record(JSON)
        /// Nothing: the caller may not know more.
        case nothing
    }

    var status: HTTPResponse.Status
    var content: Content
    var headers: HTTPFields = [:]

    init(_ status: HTTPResponse.Status, _ reason: String) {
        self.status = status
        content = .reason(reason)
    }

    init(_ status: HTTPResponse.Status, _ content: Content) {
        self.status = status
        self.content = content
    }

    /// Creates the refusal for an error of the database, without its cause, which may contain values.
    init(_ error: SluiceError) {
        switch error.code {
        case .invalidQuery, .invalidRecord, .invalidArgument: self.init(.badRequest, error.message)
        case .unsupported: self.init(.notImplemented, error.message)
        case .storeBusy:
            self.init(.serviceUnavailable, "the database is busy; try again")
            headers[.retryAfter] = "1"
        case .storeClosed:
            // The gateway's store is being reopened for a changed configuration.
            self.init(.serviceUnavailable, "the store is being opened anew; try again")
            headers[.retryAfter] = "1"
        case .storeFull:
            self.init(
                HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage"),
                "the disk of the server or gateway that answers is full")
        default: self.init(.internalServerError, "the server's database failed (\(error.code))")
        }
    }

    /// Returns the refusal without the request's credentials, because a reason may quote them from a query or a hook.
    func hiding(_ head: HTTPRequest) -> Refusal {
        guard case .reason(let reason) = content else { return self }
        let credentials = CredentialBook()
        credentials.note(head)
        var refusal = self
        refusal.content = .reason(credentials.hiding(reason))
        return refusal
    }

    /// Returns the refusal of a method that the path does not support.
    static func method(allowed: String) -> Refusal {
        var refusal = Refusal(.methodNotAllowed, "this path allows \(allowed)")
        refusal.headers[.allow] = allowed
        return refusal
    }
}

extension HTTPResponse.Status {
    /// The refusal of a request that depends on a refused one (RFC 4918, section 11.4).
    static let failedDependency = HTTPResponse.Status(code: 424, reasonPhrase: "Failed Dependency")
}

extension ServerWire {
    /// Returns the refusal in the wire's form.
    func response(to refusal: Refusal, asked: Set<PropertyName>) -> SyncResponse {
        var reply = Reply(refusal.status)
        reply.headers = refusal.headers
        switch refusal.content {
        case .nothing: return reply.response
        case .record(let stored):
            // After a refusal for its version, the client needs the current one.
            reply.body = record(stored, asked: asked.union([SystemColumn.version, SystemColumn.deleted]))
            reply.tag(stored)
            return reply.response
        case .reason(let reason):
            switch failure {
            case .object:
                reply.body = ["error": JSON(reason)]
                return reply.response
            case .problem:
                let title = refusal.status.reasonPhrase
                let problem: JSON = [
                    "type": "about:blank", "title": JSON(title.isEmpty ? "Refused" : title),
                    "status": JSON(refusal.status.code), "detail": JSON(reason),
                ]
                return reply.response(MessageBody(json: problem), type: "application/problem+json")
            case .text:
                if [401, 404, 405, 410].contains(refusal.status.code) { return reply.response }
                return reply.response(MessageBody(bytes: Array(reason.utf8)), type: "text/plain; charset=utf-8")
            }
        }
    }
}
