internal import SluiceCore

/// An address that a plugin names, and whether it may go there.
struct PluginAddress: Sendable, Hashable {
    let scheme: String
    let authority: String
    /// The path with its query, encoded.
    let path: String

    /// Reads `https://host:port/path?query`.
    init(_ url: String) throws {
        let endpoint: Endpoint
        do {
            endpoint = try Endpoint(url)
        } catch {
            throw ScriptFailure(.badResult, error.message.replacing("the endpoint's address", with: "the address"))
        }
        scheme = endpoint.scheme
        authority = endpoint.authority
        // As it was written: an address of its own, not a base for others.
        let rest = url.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" && $0 != "?" }
        path = rest.isEmpty ? "/" : rest.hasPrefix("?") ? "/\(rest)" : String(rest)
    }

    /// The host without its port.
    var host: String {
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }

    /// Refuses what the permission does not name.
    ///
    /// A pattern `*.example.com` is for all hosts below that name. Addresses of this machine and of its neighbours have
    /// to be named as they are: no pattern reaches them.
    func require(_ hosts: [String], _ refusal: String) throws {
        let host = host
        let isNamed = hosts.contains { $0.lowercased() == host || $0.lowercased() == authority }
        let isBelow = hosts.contains { pattern in
            pattern.hasPrefix("*.") && host.hasSuffix(pattern.dropFirst().lowercased())
                && host.utf8.count > pattern.utf8.count - 1
        }
        guard isNamed || isBelow && !isNear else {
            throw Denied("\(refusal) \(authority): the permission http does not name it")
        }
        guard scheme == "https" || isNamed else {
            throw Denied("\(refusal) \(authority) without TLS: the permission http does not name it")
        }
    }

    /// Whether the host is this machine, or an address and not a name.
    private var isNear: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host.contains(":") || host.hasSuffix(".local")
            || host.split(separator: ".").allSatisfy { UInt64($0) != nil || $0.hasPrefix("0x") }
    }
}
