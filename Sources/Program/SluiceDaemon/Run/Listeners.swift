internal import Foundation
internal import HTTPTypes
internal import Logging
internal import ServiceLifecycle
internal import Sluice
internal import SluiceBackend

/// All listeners of a daemon.
struct Listeners: Sendable {
    let all: [LocalListener]
    private let started: AsyncStream<Void>

    init(_ daemon: Daemon, _ plan: ServingPlan) throws {
        let (values, rule, path) = (plan.values, plan.listening.rule, plan.listening.control)
        let (started, ready) = AsyncStream<Void>.makeStream()
        self.started = started
        let control = ControlRoutes(daemon: daemon)
        var all = [
            LocalListener(
                name: "control socket", address: .socket(path: path, rule), logger: daemon.logger,
                started: { _ in ready.yield() }, answer: { await control.reply(to: $0) })
        ]
        let gateway = GatewayRoutes(daemon: daemon)
        if let path = plan.listening.gatewaySocket {
            all.append(
                LocalListener(
                    name: "gateway", address: .socket(path: path, rule), logger: daemon.logger,
                    started: { _ in ready.yield() }, answer: { await gateway.reply(to: $0) }))
        }
        if let port = values.number("gateway.port") {
            let rules = LocalGuard(token: plan.listening.gatewayToken)
            let logger = daemon.logger
            all.append(
                LocalListener(
                    name: "gateway", address: .loopback(port: port), logger: logger,
                    started: { port in
                        logger.notice("the gateway listens", metadata: ["address": "http://127.0.0.1:\(port)"])
                        ready.yield()
                    },
                    answer: { request in
                        if let refusal = rules.refusal(of: request) { return refusal }
                        return await gateway.reply(to: request)
                    }))
        }
        if let port = values.number("metrics.port") {
            let (rules, logger) = (LocalGuard(token: nil), daemon.logger)
            all.append(
                LocalListener(
                    name: "metrics", address: .loopback(port: port), logger: logger,
                    started: { port in
                        logger.notice(
                            "metrics are served", metadata: ["address": "http://127.0.0.1:\(port)/metrics"])
                        ready.yield()
                    },
                    answer: { request in
                        if let refusal = rules.refusal(of: request) { return refusal }
                        guard request.path == "/metrics" else {
                            return .refusal(.notFound, "notFound", "there is nothing at this path")
                        }
                        return await control.reply(to: request)
                    }))
        }
        if let inspection = daemon.instruments.inspection, let port = values.number("inspector.port") {
            let routes = InspectorRoutes(daemon, inspection)
            // Files and service managers keep the output, and an address with a ticket must not be kept.
            let isWatched = !daemon.manager.isPresent && isatty(STDOUT_FILENO) == 1
            let logger = daemon.logger
            all.append(
                LocalListener(
                    name: "inspector", address: .loopback(port: port), logger: logger,
                    started: { port in
                        inspection.port = port
                        logger.notice(
                            "the inspector listens", metadata: ["address": "http://127.0.0.1:\(port)/inspector/"])
                        if isWatched, let address = try? inspection.address() {
                            try? FileHandle.standardOutput.write(contentsOf: Data("inspector: \(address)\n".utf8))
                        }
                        ready.yield()
                    }, answer: { await routes.reply(to: $0) }))
        }
        self.all = all
    }

    /// Waits until every listener accepts connections.
    func ready() async {
        var count = 0
        for await _ in started {
            count += 1
            if count == all.count { return }
        }
    }
}

/// The routes of the control socket: HTTP with JSON, so that `curl --unix-socket` works too.
struct ControlRoutes: Sendable {
    private static let names = [
        "status", "metrics", "explain", "sync", "reload", "pause", "resume", "drain", "inspector",
    ]

    let daemon: Daemon

    func reply(to request: LocalRequest) async -> LocalReply {
        let name = request.segments.joined(separator: "/")
        let wanted: HTTPRequest.Method = ["status", "metrics", "explain"].contains(name) ? .get : .post
        guard Self.names.contains(name) else {
            return .refusal(.notFound, "notFound", "there is nothing at this path")
        }
        guard request.head.method == wanted else {
            return .refusal(.methodNotAllowed, "methodNotAllowed", "\(name) takes \(wanted.rawValue) only")
        }
        do {
            let endpoint = request.parameter("endpoint")
            // Status and metrics are available at any time; the other commands wait for the open stores.
            if !["status", "metrics"].contains(name) { try await daemon.opened() }
            switch name {
            case "status": return LocalReply(json: await daemon.status())
            case "metrics":
                return LocalReply(text: await daemon.metrics(), type: "text/plain; version=0.0.4; charset=utf-8")
            case "explain":
                guard let table = request.parameter("table"), let id = request.parameter("id") else {
                    throw SluiceError(.invalidArgument, "explain takes a table and an id")
                }
                return LocalReply(json: try await daemon.story(of: RecordID(id), in: table, endpoint))
            case "inspector":
                guard let inspection = daemon.instruments.inspection else {
                    throw SluiceError(
                        .operationRefused, "the daemon serves no inspector: set inspector.port and start it anew")
                }
                return LocalReply(json: ["address": JSON(try inspection.address())])
            case "sync": return LocalReply(json: try await daemon.sync(endpoint))
            case "reload":
                let changes = try await daemon.reload()
                var status = await daemon.status()
                status["permissions"] = JSON(changes.map { JSON($0) })
                return LocalReply(json: status)
            case "pause", "resume":
                await daemon.pause(name == "pause")
                return LocalReply(json: await daemon.status())
            default: return LocalReply(json: try await daemon.drain())
            }
        } catch {
            return .refusal(error)
        }
    }
}

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
