internal import HTTPTypes
internal import ServiceLifecycle
internal import Sluice
internal import SluiceBackend

/// The local gateway: the tables protocol on the stores of the daemon. With several endpoints the path begins with the
/// name of one.
struct GatewayRoutes: Sendable {
    let daemon: Daemon

    func reply(to request: LocalRequest) async -> LocalReply {
        // After a reload in the meantime, the new installation answers.
        for _ in 0..<10 {
            if let reply = await answer(request) { return reply }
        }
        return .refusal(.serviceUnavailable, "storeClosed", "the daemon ends")
    }

    /// Returns the answer; nil if the installation has ended in the meantime.
    private func answer(_ request: LocalRequest) async -> LocalReply? {
        _ = try? await daemon.opened()
        let installations = await daemon.serving.installations
        var request = request
        var installation = installations.first
        if let name = request.segments.first, installations.count > 1 || installations.first?.name.isEmpty == false {
            installation = installations.first { $0.name == name }
            let path = request.head.path ?? "/"
            request.head.path = String(path.drop { $0 == "/" }.drop { $0 != "/" })
        }
        guard let installation else { return .refusal(.notFound, "notFound", "there is no such endpoint") }
        let context = installation.session.context
        if let table = Self.followed(request) { return Self.changes(of: table, context) }
        let gateway = TablesGateway(context: context, tables: installation.session.settings.tables)
        return await installation.serve {
            let response = await gateway.respond(to: SyncRequest(request.head, body: request.body))
            return LocalReply(
                response.head.status, headers: response.head.headerFields, bytes: response.body.bytes)
        }
    }

    /// The table of a request for change events; nil for any other request.
    private static func followed(_ request: LocalRequest) -> String? {
        let segments = request.segments
        guard request.head.method == .get, segments.count == 3, segments[0] == "tables", segments[2] == "changes",
            request.head.headerFields[values: .accept].contains(where: { $0.contains("text/event-stream") })
        else { return nil }
        return segments[1]
    }

    /// Returns commits to a table as server-sent events: the changed ids, or a request to read everything again. A slow
    /// reader gets fewer events, which ask it to read everything again.
    private static func changes(of table: String, _ context: SyncContext) -> LocalReply {
        var reply = LocalReply(
            .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-cache"],
            bytes: [])
        let changes = context.changes
        reply.stream = { send in
            try await send(Array("event: ready\ndata: {}\n\n".utf8))
            for await batch in changes.cancelOnGracefulShutdown() where batch.concerns(table) {
                let ids = batch.changes.filter { $0.table == table }.map { JSON($0.recordID) }
                var json: JSON = ["table": JSON(table), "ids": JSON(ids)]
                if ids.isEmpty { json["reload"] = true }
                try await send(
                    Array("event: changes\nid: \(batch.id)\ndata: ".utf8) + json.bytes() + Array("\n\n".utf8))
            }
        }
        return reply
    }
}
