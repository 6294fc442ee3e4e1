internal import Sluice

/// The configuration of the listeners on this machine, and who may use them.
struct ListeningPlan: Sendable {
    /// The longest path of a Unix socket.
    private static let longestPath = 107
    private static let shortestToken = 16

    let rule: SocketRule
    /// The control socket's path.
    let control: String
    /// The gateway's socket; nil where there is none.
    let gatewaySocket: String?
    /// The token of the gateway's port; nil where any local user may come, or where there is no port.
    let gatewayToken: String?

    /// - Parameter store: the first endpoint's.
    /// - Throws: ``SluiceError`` of code `invalidArgument` for what cannot be.
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
