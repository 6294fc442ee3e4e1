internal import Foundation
internal import Logging
internal import Sluice
internal import SluiceLua

/// A configuration that has been read and checked as far as possible without opening a store.
///
/// The daemon starts with a plan, and `config check` makes one, so both refuse the same mistakes.
package struct ServingPlan: Sendable {
    /// One endpoint of the configuration.
    struct Endpoint: Sendable {
        let client: ClientSettings
        let store: String
        let values: SettingValues
        /// The times of the day in which runs may begin.
        let windows: [DayWindow]

        var name: String { client.name }
    }

    let settings: Settings
    /// The values that count for the daemon as a whole.
    let values: SettingValues
    let endpoints: [Endpoint]
    let listening: ListeningPlan
    let path: String

    /// Reads the configuration.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` with the mistake and its place.
    package init(_ source: SettingsSource) throws {
        let (file, settings) = try source.read()
        var endpoints: [Endpoint] = []
        for name in settings.endpoints {
            let client = try ClientSettings(file, settings, endpoint: name, environment: source.environment)
            let values = SettingValues(settings, endpoint: name, environment: source.environment)
            let store = try client.requireStore()
            if let other = endpoints.first(where: { $0.store == store }) {
                throw SluiceError(
                    .invalidArgument,
                    "the endpoints \(other.name) and \(name) have the same store; each needs one of its own")
            }
            endpoints.append(
                Endpoint(client: client, store: store, values: values, windows: try DayWindow.list(values)))
        }
        guard let first = endpoints.first else {
            throw SluiceError(.invalidArgument, "the configuration has no store")
        }
        (self.settings, self.endpoints, path) = (settings, endpoints, source.path)
        values = SettingValues(settings, environment: source.environment)
        listening = try ListeningPlan(values, store: first.store)
    }

    /// Checks that everything named in the configuration can be used: addresses, files of tokens, keys and
    /// certificates, and the plugins with their fixtures. No store is opened, no token's program is run, and nothing is
    /// sent.
    ///
    /// - Throws: ``SluiceError`` for the first that cannot be used.
    package func check() async throws {
        let logger = Logger(label: "sluice") { _ in SwiftLogNoOpLogHandler() }
        _ = try SpanExport(values, logger: logger, metrics: MeterRegistry())
        for endpoint in endpoints { try await endpoint.client.check(logger) }
    }

    /// The stores, by path.
    var stores: [String] { endpoints.map(\.store) }
}

/// The configuration of the listeners on this machine, and of their permitted users.
struct ListeningPlan: Sendable {
    /// The longest path of a Unix socket.
    private static let longestPath = 107
    private static let shortestToken = 16

    let rule: SocketRule
    /// The control socket's path.
    let control: String
    /// The path of the gateway's socket; nil if there is none.
    let gatewaySocket: String?
    /// The token of the gateway's port; nil if any local user may connect, or if there is no port.
    let gatewayToken: String?

    /// - Parameter store: the path of the first endpoint's store.
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a setting that contradicts another.
    init(_ values: SettingValues, store: String) throws {
        rule = try SocketRule(users: values.list("control.users") ?? [], group: values.text("control.group"))
        control = try ControlAddress.path(values, store: store)
        gatewaySocket = try values.path("gateway.socket")
        for (name, path) in [("control", control), ("gateway", gatewaySocket ?? "")]
        where path.utf8.count > Self.longestPath {
            throw SluiceError(
                .invalidArgument,
                "the \(name) socket's path \(path) is longer than the \(Self.longestPath) bytes that Unix allows; set "
                    + "\(name).socket")
        }
        gatewayToken = values.number("gateway.port") == nil ? nil : try Self.token(values)
    }

    private static func token(_ values: SettingValues) throws -> String? {
        guard let path = try values.path("gateway.token-file") else {
            if values.flag("gateway.any-local-user") { return nil }
            throw SluiceError(
                .invalidArgument,
                "gateway.port needs gateway.token-file; or gateway.any-local-user: true, where every user of this "
                    + "machine may read and write what the daemon syncs")
        }
        guard let token = CredentialText.read(path) else {
            throw SluiceError(.invalidArgument, "gateway.token-file: \(path) cannot be read")
        }
        guard token.utf8.count >= shortestToken else {
            throw SluiceError(.invalidArgument, "gateway.token-file: a token has \(shortestToken) characters or more")
        }
        return token
    }
}
