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
