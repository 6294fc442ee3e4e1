internal import Foundation
internal import Logging
internal import Sluice
internal import SluiceLua
internal import SluiceSignOn

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
            if let other = endpoints.first(where: { SQLiteStore.resolved($0.store) == SQLiteStore.resolved(store) }) {
                throw SluiceError(
                    .invalidArgument,
                    "the endpoints \(other.name) and \(name) have the same store; each needs one of its own")
            }
            if let folder = client.plugins?.fleet?.folder,
                let other = endpoints.first(where: { Self.isSame($0.client.plugins?.fleet?.folder, folder) })
            {
                throw SluiceError(
                    .invalidArgument,
                    "the endpoints \(other.name) and \(name) have the same policy.folder; each needs one of its own")
            }
            try WritablePlace.check(SQLiteStore.resolved(store), for: "store")
            try SQLiteStore.check(path: store, encryption: try client.storeKey?.encryption())
            endpoints.append(
                Endpoint(client: client, store: store, values: values, windows: try DayWindow.list(values)))
        }
        guard !endpoints.isEmpty else {
            throw SluiceError(.invalidArgument, "the configuration has no store")
        }
        (self.settings, self.endpoints, path) = (settings, endpoints, source.path)
        values = SettingValues(settings, environment: source.environment)
        listening = try ListeningPlan(values, stores: endpoints.map(\.store))
    }

    /// Checks that everything named in the configuration can be used: addresses, files of tokens, keys and
    /// certificates, the plugins with their fixtures, and what a store has to take: tables, columns and migrations. No
    /// store's file is opened, no token's program is run, and nothing is sent.
    ///
    /// - Throws: ``SluiceError`` for the first that cannot be used.
    package func check() async throws {
        let logger = Logger(label: "sluice") { _ in SwiftLogNoOpLogHandler() }
        _ = try SpanExport(values, logger: logger, metrics: MeterRegistry())
        for endpoint in endpoints { try await endpoint.client.check(logger) }
    }

    private static func isSame(_ folder: String?, _ other: String) -> Bool {
        folder.map { SQLiteStore.resolved($0) == SQLiteStore.resolved(other) } ?? false
    }

    /// The folders of the endpoints' policies from afar.
    var policyFolders: [String] { endpoints.compactMap { $0.client.plugins?.fleet?.folder } }

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

    /// - Parameter stores: the paths of the endpoints' stores.
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a setting that contradicts another, and for a place where
    ///   no socket can be.
    init(_ values: SettingValues, stores: [String]) throws {
        rule = try SocketRule(users: values.list("control.users") ?? [], group: values.text("control.group"))
        control = try ControlAddress.path(values, store: stores.first ?? "")
        gatewaySocket = try values.path("gateway.socket")
        var sockets = [("control", control)]
        if let gatewaySocket { sockets.append(("gateway", gatewaySocket)) }
        for (name, path) in sockets { try Self.check(path, of: name, stores) }
        if let gatewaySocket, SQLiteStore.resolved(gatewaySocket) == SQLiteStore.resolved(control) {
            throw SluiceError(.invalidArgument, "gateway.socket is the control socket; each needs a path of its own")
        }
        try Self.checkPorts(values)
        gatewayToken = values.number("gateway.port") == nil ? nil : try Self.token(values)
    }

    private static func check(_ path: String, of name: String, _ stores: [String]) throws {
        guard path.utf8.count <= longestPath else {
            throw SluiceError(
                .invalidArgument,
                "the \(name) socket's path \(path) is longer than the \(longestPath) bytes that Unix allows; set "
                    + "\(name).socket")
        }
        let place = SQLiteStore.resolved(path)
        try WritablePlace.check(place, for: "\(name).socket")
        _ = try LocalListener.hasSocket(at: path)
        let files = stores.flatMap { StoreFileNames.all(SQLiteStore.resolved($0)) }
        if files.contains(place), !place.hasSuffix(".sock") {
            throw SluiceError(.invalidArgument, "\(name).socket is a file of the store; give it a path of its own")
        }
    }

    /// Checks that no two listeners share a port. Port 0 is a free one for each.
    private static func checkPorts(_ values: SettingValues) throws {
        var taken: [Int: String] = [:]
        for key in ["gateway.port", "metrics.port", "inspector.port"] {
            guard let port = values.number(key), port > 0 else { continue }
            if let other = taken.updateValue(key, forKey: port) {
                throw SluiceError(
                    .invalidArgument, "\(values.origin(key)): \(key) and \(other) are the same port, \(port)")
            }
        }
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
        guard CredentialText.isUsable(token) || token.isEmpty else {
            throw SluiceError(.invalidArgument, "gateway.token-file: \(path) is not one line of text")
        }
        guard token.utf8.count >= shortestToken else {
            throw SluiceError(.invalidArgument, "gateway.token-file: a token has \(shortestToken) characters or more")
        }
        return token
    }
}
