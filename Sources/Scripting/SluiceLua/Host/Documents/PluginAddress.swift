internal import HTTPTypes
internal import SluiceCore

/// An address that a plugin names, checked against its permissions.
package struct PluginAddress: Sendable, Hashable {
    package let scheme: String
    package let authority: String
    /// The path with its query, encoded.
    package let path: String

    /// The maximum length, longer than servers accept.
    private static let maximumBytes = 64 << 10

    /// Reads `https://host:port/path?query`.
    package init(_ url: String) throws {
        guard url.utf8.count <= Self.maximumBytes else {
            throw ScriptFailure(.badResult, "the address has more than \(Self.maximumBytes) bytes")
        }
        let endpoint: Endpoint
        do {
            endpoint = try Endpoint(url)
        } catch {
            throw ScriptFailure(.badResult, error.message.replacing("the endpoint's address", with: "the address"))
        }
        scheme = endpoint.scheme
        authority = endpoint.authority
        // The path is kept as written: the address is complete, not a base for others.
        let rest = url.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" && $0 != "?" }
        path = rest.isEmpty ? "/" : rest.hasPrefix("?") ? "/\(rest)" : String(rest)
    }

    init(of head: HTTPRequest) {
        scheme = head.scheme ?? ""
        authority = head.authority?.lowercased() ?? ""
        path = head.path ?? "/"
    }

    /// The host without its port.
    var host: String {
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }

    /// Refuses a host that the permission does not name.
    ///
    /// A pattern `*.example.com` matches all hosts below that name. Addresses of this machine and of its neighbours
    /// have to be named exactly: no pattern matches them.
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

    /// Whether the other address is on another server.
    func isElsewhere(than other: PluginAddress) -> Bool { scheme != other.scheme || authority != other.authority }

    /// Whether others can read a request on its way there: plain http, except within this machine.
    var isOpen: Bool {
        if scheme == "https" { return false }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        let isLocal = numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
        return !isLocal && host != "localhost" && host != "::1"
    }

    /// Replaces the handles of secrets in a value that goes to this address.
    ///
    /// - Throws: ``Denied`` for a value with a secret that would be sent without TLS.
    func revealed(_ value: String, by secrets: SecretBook) throws -> String {
        let text = secrets.revealed(value)
        guard text == value || !isOpen else {
            throw Denied("a secret goes to \(authority) over TLS alone: plain http is for this machine")
        }
        return text
    }

    /// Whether the host is this machine, or an address instead of a name.
    private var isNear: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host.contains(":") || host.hasSuffix(".local")
            || host.split(separator: ".").allSatisfy { UInt64($0) != nil || $0.hasPrefix("0x") }
    }
}
