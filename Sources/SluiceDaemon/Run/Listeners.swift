internal import Foundation
internal import Logging
internal import Sluice

/// All listeners of a daemon.
struct Listeners: Sendable {
    let all: [LocalListener]
    private let started: AsyncStream<Void>

    init(_ daemon: Daemon, _ values: SettingValues, _ serving: Serving) throws {
        let rule = try SocketRule(users: values.list("control.users") ?? [], group: values.text("control.group"))
        guard let store = serving.stores.first else {
            throw SluiceError(.invalidArgument, "the configuration has no store")
        }
        let path = try ControlAddress.path(values, store: store)
        guard path.utf8.count < 108 else {
            throw SluiceError(
                .invalidArgument,
                "the control socket's path \(path) is longer than the 107 bytes that Unix allows; set control.socket")
        }
        let (started, ready) = AsyncStream<Void>.makeStream()
        self.started = started
        let control = ControlRoutes(daemon: daemon)
        var all = [
            LocalListener(
                name: "control socket", address: .socket(path: path, rule), logger: daemon.logger,
                started: { _ in ready.yield() }, answer: { await control.reply(to: $0) })
        ]
        let gateway = GatewayRoutes(daemon: daemon)
        if let path = try values.path("gateway.socket") {
            all.append(
                LocalListener(
                    name: "gateway", address: .socket(path: path, rule), logger: daemon.logger,
                    started: { _ in ready.yield() }, answer: { await gateway.reply(to: $0) }))
        }
        if let port = values.number("gateway.port") {
            let rules = LocalGuard(token: try Self.token(values))
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
        if let inspection = daemon.instruments.inspection, let port = values.number("inspector.port") {
            let routes = InspectorRoutes(daemon, inspection)
            // Output that goes to a file or a service manager is kept: an address with a ticket does not belong there.
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
                            FileHandle.standardOutput.write(Data("inspector: \(address)\n".utf8))
                        }
                        ready.yield()
                    }, answer: { await routes.reply(to: $0) }))
        }
        self.all = all
    }

    /// The token of the gateway's port; nil where the configuration says that any local user may come.
    private static func token(_ values: SettingValues) throws -> String? {
        guard let path = try values.path("gateway.token-file") else {
            if values.flag("gateway.any-local-user") { return nil }
            throw SluiceError(
                .invalidArgument,
                "gateway.port needs gateway.token-file; or gateway.any-local-user: true, where every user of this "
                    + "machine may read and write what the daemon syncs")
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw SluiceError(.invalidArgument, "gateway.token-file: \(path) cannot be read")
        }
        let token = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard token.utf8.count >= 16 else {
            throw SluiceError(.invalidArgument, "gateway.token-file: a token has 16 characters or more")
        }
        return token
    }

    /// Waits until every listener takes connections.
    func ready() async {
        var count = 0
        for await _ in started {
            count += 1
            if count == all.count { return }
        }
    }
}
