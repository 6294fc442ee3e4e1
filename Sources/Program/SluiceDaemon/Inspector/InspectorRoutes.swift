internal import HTTPTypes
internal import Sluice

/// The routes of the inspector's port: the page, and its views and actions as JSON below `/inspector/api`.
struct InspectorRoutes: Sendable {
    let daemon: any Inspected
    let inspection: Inspection
    private let rules = LocalGuard(token: nil)

    init(_ daemon: any Inspected, _ inspection: Inspection) {
        self.daemon = daemon
        self.inspection = inspection
    }

    /// The cookie's name contains the port: browsers share cookies between the ports of a host.
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
                // A page of another origin needs a preflight for this type, and preflights are not answered.
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

/// The page's files, built into the program, and the header fields of all answers.
enum InspectorPage {
    /// A file by its path below `/inspector/`; the page itself by the empty one.
    static func file(_ path: String) -> LocalReply? {
        switch path {
        case "": reply(PackageResources.index_html, "text/html; charset=utf-8")
        case "inspector.css": styles
        case "inspector.js": reply(PackageResources.inspector_js, "text/javascript; charset=utf-8")
        case "dom.js": reply(PackageResources.dom_js, "text/javascript; charset=utf-8")
        case "decisions.js": reply(PackageResources.decisions_js, "text/javascript; charset=utf-8")
        case "policy.js": reply(PackageResources.policy_js, "text/javascript; charset=utf-8")
        case "views.js": reply(PackageResources.views_js, "text/javascript; charset=utf-8")
        case "icon.svg": reply(PackageResources.icon_svg, "image/svg+xml")
        default: nil
        }
    }

    /// The style sheet.
    static var styles: LocalReply { reply(PackageResources.inspector_css, "text/css; charset=utf-8") }

    private static func reply(_ bytes: [UInt8], _ type: String) -> LocalReply {
        LocalReply(.ok, headers: [.contentType: type], bytes: bytes)
    }

    static func redirect(_ path: String) -> LocalReply { LocalReply(.seeOther, headers: [.location: path]) }

    /// The answer to a browser that is not signed in.
    static let signInNeeded = LocalReply(
        .unauthorized,
        text: """
            This address is used up, too old, or was never given.

            sluice inspector prints a new one.

            """)

    /// Forbids foreign resources, frames around the page, and copies of it on a disk.
    private static let fields: [(String, String)] = [
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ]

    /// The permitted resources of the inspector's page.
    private static let ownResources =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    /// Returns the answer with the header fields that guard a page.
    ///
    /// - Parameter resources: the permitted resources; the inspector's own by default.
    static func guarded(_ reply: LocalReply, resources: String = Self.ownResources) -> LocalReply {
        var reply = reply
        for (name, value) in [("Content-Security-Policy", resources)] + fields {
            if let name = HTTPField.Name(name) { reply.headers[name] = value }
        }
        return reply
    }
}

/// The views and actions of the inspector by their names. Every value of a record goes to the page as text: JavaScript
/// would round large JSON numbers.
struct InspectorAPI: Sendable {
    let daemon: any Inspected
    let inspection: Inspection

    /// Returns a view; nil for an unknown name.
    func view(_ name: String, _ request: LocalRequest) async throws -> JSON? {
        switch name {
        case "status":
            var status = await daemon.status()
            status["readOnly"] = JSON(inspection.isReadOnly)
            return status
        case "timeline":
            return inspection.timeline.json(after: request.parameter("after").flatMap { Int($0) } ?? 0)
        case "figures": return inspection.figures.json
        default: break
        }
        let endpoint = try await endpoint(request.parameter("endpoint"))
        func needed(_ name: String) throws -> String {
            guard let value = request.parameter(name), !value.isEmpty else {
                throw SluiceError(.invalidArgument, "the parameter \(name) is missing")
            }
            return value
        }
        switch name {
        case "tables": return try await TablesView(endpoint).tables()
        case "rows":
            return try await TablesView(endpoint).rows(
                of: needed("table"), filter: request.parameter("filter"),
                skip: request.parameter("skip").flatMap { Int($0) } ?? 0)
        case "row":
            return try await TablesView(endpoint).row(
                RecordID(needed("id")), in: needed("table"), asksServer: request.parameter("ask") == "true")
        case "queue":
            return try await QueueView(endpoint).queue(
                skip: request.parameter("skip").flatMap { Int($0) } ?? 0)
        case "queue/operation": return try await QueueView(endpoint).operation(needed("id"))
        case "conflicts": return try await ConflictView(endpoint).conflicts()
        case "plugins": return try await PluginsView(endpoint).plugins()
        case "plugins/source": return try PluginsView(endpoint).source(of: needed("plugin"))
        default: return nil
        }
    }

    /// Performs an action; nil for an unknown name.
    func act(_ name: String, _ body: JSON) async throws -> JSON? {
        let endpoint = try await endpoint(body["endpoint"]?.string)
        if name == "plugins/try" { return try await PluginTrial(endpoint).run(body) }
        guard !inspection.isReadOnly else {
            throw SluiceError(.operationRefused, "the inspector changes nothing: inspector.read-only is true")
        }
        switch name {
        case "daemon/sync": return try await daemon.sync(endpoint.name)
        case "daemon/reload":
            try await daemon.reload()
            return .object
        case "daemon/pause", "daemon/resume":
            await daemon.pause(name == "daemon/pause")
            return .object
        case "queue/retry", "queue/retry-all", "queue/discard", "queue/edit", "queue/undo", "conflicts/resolve":
            let done =
                name == "conflicts/resolve"
                ? try await ConflictView(endpoint).resolve(body)
                : try await QueueView(endpoint).act(name, body)
            // The operation is sent soon, as after any other change.
            endpoint.changed()
            return done
        default: return nil
        }
    }

    private func endpoint(_ name: String?) async throws -> InspectedEndpoint {
        let endpoints = await daemon.endpoints
        guard let found = name.map({ name in endpoints.first { $0.name == name } }) ?? endpoints.first else {
            throw SluiceError(.invalidArgument, "there is no endpoint \(name ?? "")")
        }
        return found
    }
}

extension JSON {
    /// Returns a member that the action requires.
    func text(_ name: String) throws -> String {
        guard let text = self[name]?.string else {
            throw SluiceError(.invalidArgument, "the member \(name) is missing, or no text")
        }
        return text
    }
}
