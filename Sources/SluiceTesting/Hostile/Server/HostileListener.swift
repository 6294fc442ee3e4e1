/// A listener beside a hostile server, to which redirects and links lead: another origin, with which a client has
/// nothing to do. It answers every request with an empty list, so that a client that comes stays and says all it has
/// to.
public final class HostileListener: Sendable {
    private let port: HostilePort

    init(_ port: HostilePort) { self.port = port }

    /// Host and port: `127.0.0.1:40124`.
    public var authority: String { port.authority }
    /// What was asked here.
    public var requests: [HostileRequest] { port.requests }
    /// How many connections were made to it.
    public var connectionCount: Int { port.connectionCount }
    /// Whether nobody has so much as connected.
    public var isSilent: Bool { port.connectionCount == 0 }

    func start() { port.start(elsewhere: authority, greeting: []) { _ in [.json(200, "[]")] } }
    func stop() async { await port.stop() }
}
