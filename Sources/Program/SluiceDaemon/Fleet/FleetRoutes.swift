internal import HTTPTypes
package import Logging
internal import Sluice
package import SluiceBackend

/// The pages of a fleet that `sluice serve` has for its operator: `/fleet` for a browser, and `/fleet.json` for programs.
package struct FleetRoutes: Sendable {
    /// The most devices that are read, and the bytes of stored rows after which no further one is read.
    private static let mostDevices = 10_000
    private static let mostBytes = 32 << 20
    /// Permits the style sheet, and the form that signs in.
    private static let resources =
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

    private let settings: BackendConfiguration.Fleet
    private let backend: Backend
    private let access: OperatorAccess
    private let logger: Logger

    /// Prepares the pages of a backend; nil if its configuration has none.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a token that cannot be read.
    package init?(_ backend: Backend, _ logger: Logger) throws {
        guard let settings = backend.configuration.fleet else { return nil }
        access = try OperatorAccess(tokenFile: settings.tokenFile)
        (self.settings, self.backend, self.logger) = (settings, backend, logger)
    }

    /// The pages for a listener.
    package var pages: OperatorPages {
        OperatorPages(at: ["/fleet", "/fleet.json", "/fleet.css"]) { request, prefix in
            let answer = await self.answer(LocalRequest(head: request.head, body: request.body), prefix)
            let reply = InspectorPage.guarded(answer, resources: Self.resources)
            return SyncResponse(
                HTTPResponse(status: reply.status, headerFields: reply.headers), body: MessageBody(bytes: reply.bytes))
        }
    }

    private func answer(_ request: LocalRequest, _ prefix: String) async -> LocalReply {
        let reads = [.get, .head].contains(request.head.method)
        switch (request.path, request.head.method) {
        case ("/fleet", .post): return signIn(request, prefix)
        case ("/fleet", _) where reads: return await page(request, FleetPage(prefix: prefix))
        case ("/fleet.json", _) where reads: return await document(request)
        case ("/fleet.css", _) where reads: return InspectorPage.styles
        default: return .refusal(.methodNotAllowed, "methodNotAllowed", "the path takes no such method")
        }
    }

    private func signIn(_ request: LocalRequest, _ prefix: String) -> LocalReply {
        if let name = HTTPField.Name("Sec-Fetch-Site"), let site = request.head.headerFields[name],
            !["same-origin", "none"].contains(site)
        {
            return .refusal(.forbidden, "crossOrigin", "the form is taken from this server's page alone")
        }
        let cookie = access.signIn(
            request.field("token") ?? "", at: "\(prefix)/fleet", isSecure: request.head.scheme == "https")
        guard let cookie else { return FleetPage(prefix: prefix).signIn(isRefused: true) }
        var reply = InspectorPage.redirect("\(prefix)/fleet")
        reply.headers[.setCookie] = cookie
        return reply
    }

    private func page(_ request: LocalRequest, _ page: FleetPage) async -> LocalReply {
        guard access.admitsCookie(request) || access.admitsToken(request) else { return page.signIn(isRefused: false) }
        let now = SyncEnvironment.system.now()
        guard let summary = await summary(at: now) else { return page.unreadable }
        return page.devices(summary, at: now)
    }

    private func document(_ request: LocalRequest) async -> LocalReply {
        guard access.admitsToken(request) else {
            var reply = LocalReply.refusal(.unauthorized, "unauthorized", "the operator's token is needed")
            reply.headers[.wwwAuthenticate] = "Bearer"
            return reply
        }
        guard let summary = await summary(at: SyncEnvironment.system.now()) else {
            return .refusal(.serviceUnavailable, "unavailable", "the table of the fleet cannot be read now")
        }
        return LocalReply(json: summary.json)
    }

    /// Reads and judges the rows; nil if they cannot be read.
    private func summary(at now: Timestamp) async -> FleetSummary? {
        do {
            let (rows, unread) = try await backend.rows(
                of: settings.table, most: Self.mostDevices, bytes: Self.mostBytes
            ) { PolicyReportRow($0) }
            return FleetSummary(rows, at: now, silentAfter: settings.silentAfter, unread: unread)
        } catch {
            logger.warning(
                "the table of the fleet cannot be read",
                metadata: ["table": "\(settings.table)", "error": "\(CommandText.reason(error))"])
            return nil
        }
    }
}
