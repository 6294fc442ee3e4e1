internal import HTTPTypes
internal import Sluice

/// What the inspector's port answers: the page, and below `/inspector/api` what it shows and does, as JSON.
struct InspectorRoutes: Sendable {
    let daemon: any Inspected
    let inspection: Inspection
    private let rules = LocalGuard(token: nil)

    init(_ daemon: any Inspected, _ inspection: Inspection) {
        self.daemon = daemon
        self.inspection = inspection
    }

    /// The cookie's name has the port in it: browsers do not tell the ports of a host apart.
    private var cookie: String { "sluice-inspector-\(inspection.port ?? 0)" }

    func reply(to request: LocalRequest) async -> LocalReply {
        if let refusal = rules.refusal(of: request) { return InspectorPage.guarded(refusal) }
        return InspectorPage.guarded(await answer(request))
    }

    private func answer(_ request: LocalRequest) async -> LocalReply {
        var path = request.segments
        guard path.first == "inspector" else {
            return path.isEmpty
                ? InspectorPage.redirect("/inspector/")
                : .refusal(.notFound, "notFound", "there is nothing at this path")
        }
        path.removeFirst()
        if path.isEmpty, request.head.method == .get, let ticket = request.parameter("token") {
            guard let secret = inspection.sessions.signIn(ticket) else { return InspectorPage.signInNeeded }
            var reply = InspectorPage.redirect("/inspector/")
            reply.headers[.setCookie] = "\(cookie)=\(secret); Path=/inspector; HttpOnly; SameSite=Strict"
            return reply
        }
        guard inspection.sessions.admits(request, cookie: cookie) else {
            return path.first == "api"
                ? .refusal(.unauthorized, "unauthorized", "sluice inspector prints an address that signs you in")
                : InspectorPage.signInNeeded
        }
        if path.first == "api" {
            return await api(request, path.dropFirst().joined(separator: "/"))
        }
        guard request.head.method == .get else {
            return .refusal(.methodNotAllowed, "methodNotAllowed", "the page takes GET only")
        }
        // Relative addresses in the page need the slash.
        if path.isEmpty, !request.path.hasSuffix("/") { return InspectorPage.redirect("/inspector/") }
        return InspectorPage.file(path.joined(separator: "/"))
            ?? .refusal(.notFound, "notFound", "there is nothing at this path")
    }

    private func api(_ request: LocalRequest, _ name: String) async -> LocalReply {
        do {
            let api = InspectorAPI(daemon: daemon, inspection: inspection)
            switch request.head.method {
            case .get:
                return try await api.view(name, request).map { LocalReply(json: $0) }
                    ?? .refusal(.notFound, "notFound", "there is no such view")
            case .post:
                // No page of another origin can send this type without asking first, and nobody answers that question.
                guard request.head.headerFields[.contentType]?.lowercased() == "application/json" else {
                    return .refusal(.unsupportedMediaType, "notJSON", "actions take application/json")
                }
                guard let body = try? JSON(parsing: request.body.bytes), body.kind == .object else {
                    throw SluiceError(.invalidArgument, "the body is no JSON object")
                }
                return try await api.act(name, body).map { LocalReply(json: $0) }
                    ?? .refusal(.notFound, "notFound", "there is no such action")
            default: return .refusal(.methodNotAllowed, "methodNotAllowed", "the inspector takes GET and POST")
            }
        } catch {
            return .refusal(error)
        }
    }
}
