internal import Foundation
package import SluiceCore

/// The proxies through which servers are reached, and the hosts that are reached without one.
///
/// A transport asks its proxy with `CONNECT` for a connection to the server, whatever the server's scheme, and speaks
/// with the server through that: with TLS the proxy sees the server's name, and nothing of a request. By default the
/// environment's variables are used, as ``init(environment:)`` reads them.
///
/// ```swift
/// let proxy = ProxySettings("http://proxy.example.com:3128", exceptions: ["localhost", ".example.com", "10.0.0.0/8"])
/// let transport = AsyncHTTPTransport(proxy: proxy)
/// ```
public struct ProxySettings: Sendable, Hashable {
    /// The proxy for servers with `http` addresses; nil for none.
    var http: Secret?
    /// The proxy for servers with `https` addresses; nil for none.
    var https: Secret?
    /// Name and password, as `name:password`, in the place of those in the addresses; nil for those.
    private var credentials: Secret?
    /// The hosts that are reached without a proxy: names with all names below them, addresses, networks such as
    /// `10.0.0.0/8`, or `*` for all hosts.
    public var exceptions: [String]

    /// No proxy, whatever the environment says.
    public static let none = ProxySettings(http: nil, https: nil)

    /// The settings of this process's environment.
    public static let environment = ProxySettings(environment: ProcessInfo.processInfo.environment)

    /// Creates the settings of one proxy for all servers.
    ///
    /// - Parameters:
    ///   - address: the proxy's address: `http://proxy.example.com:3128`, with `user:password@` before the host where it
    ///     asks for credentials. The scheme may be left out; without a port it is 1080, as curl has it. A request through
    ///     a proxy whose address cannot be read throws ``SluiceError`` of code `invalidArgument`.
    ///   - credentials: name and password, as `name:password`, where they are not in the address.
    ///   - exceptions: see ``exceptions``.
    public init(_ address: String, credentials: String? = nil, exceptions: [String] = []) {
        self.init(http: address, https: address, exceptions: exceptions)
        self.credentials = credentials.map { Secret($0) }
    }

    /// Creates the settings of a proxy for each scheme; nil for none.
    public init(http: String?, https: String?, exceptions: [String] = []) {
        self.http = http.map { Secret($0) }
        self.https = https.map { Secret($0) }
        self.exceptions = exceptions
    }

    /// Reads `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` for both, and `NO_PROXY` with blanks or commas between hosts; each in
    /// small letters too, which count first. In a CGI program `HTTP_PROXY` is a header of the request, and is not read.
    public init(environment variables: [String: String]) {
        func value(_ name: String) -> String? {
            let isHeader = name == "HTTP_PROXY" && variables["REQUEST_METHOD"] != nil
            let values = [variables[name.lowercased()], isHeader ? nil : variables[name]]
            return values.compactMap { $0?.trimmingCharacters(in: .whitespaces) }.first { !$0.isEmpty }
        }
        let all = value("ALL_PROXY")
        let exceptions = value("NO_PROXY")?.split { $0 == "," || $0.isWhitespace }.map(String.init)
        self.init(http: value("HTTP_PROXY") ?? all, https: value("HTTPS_PROXY") ?? all, exceptions: exceptions ?? [])
    }

    /// Returns the proxy for a server; nil where it is reached without one.
    ///
    /// - Parameter authority: the server's host, and its port where that is not the scheme's own.
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an address that cannot be read. The message has nothing of
    ///   it, because it may hold a password.
    package func server(for authority: String, scheme: String) throws(SluiceError) -> ProxyServer? {
        guard let address = scheme.lowercased() == "https" ? https : http else { return nil }
        let place = authority.split(separator: "@").last ?? ""
        let host = place.hasPrefix("[") ? place.prefix { $0 != "]" } : place.prefix { $0 != ":" }
        return isException(String(host)) ? nil : try ProxyServer(address.text, credentials)
    }

    /// Checks the addresses.
    ///
    /// - Throws: as ``server(for:scheme:)``.
    package func validate() throws(SluiceError) {
        for address in [http, https] { if let address { _ = try ProxyServer(address.text) } }
    }

    /// Whether the host is reached without a proxy.
    private func isException(_ host: String) -> Bool {
        let host = Self.plain(host)
        let address = NetworkAddress(host)
        return exceptions.contains { text in
            if text == "*" { return true }
            // An address stands for itself and in networks alone: no name ends with it.
            if let address { return AddressRange(Self.plain(text))?.contains(address) ?? false }
            let name = Self.plain(text)
            return !name.isEmpty && (host == name || host.hasSuffix("." + name))
        }
    }

    /// Returns a host in small letters, without brackets and without dots at its ends.
    private static func plain(_ host: String) -> String {
        host.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]. "))
    }
}

/// A proxy that connects to servers by `CONNECT` (RFC 9110 §9.3.6).
package struct ProxyServer: Sendable, Hashable, CustomStringConvertible {
    /// The host, without brackets.
    package let host: String
    package let port: Int
    /// The name and the password; nil where the proxy asks for none.
    package let credentials: Secret?

    /// The host and the port.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Reads an address.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`.
    package init(_ address: String, _ credentials: Secret? = nil) throws(SluiceError) {
        let hasScheme = address.contains("://")
        let url = URLComponents(string: hasScheme ? address : "http://\(address)")
        guard let url, let scheme = url.scheme, let host = url.host, !host.isEmpty, ["", "/"].contains(url.path),
            url.query == nil, url.fragment == nil, (1...65_535).contains(url.port ?? 1080)
        else {
            throw SluiceError(.invalidArgument, "a proxy's address is of the form http://HOST:PORT")
        }
        guard scheme.lowercased() == "http" else {
            throw SluiceError(
                .invalidArgument, "a proxy is reached by http, to which servers' TLS is no matter; not by \(scheme)")
        }
        self.host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        port = url.port ?? 1080
        self.credentials = credentials ?? url.user.map { Secret("\($0):\(url.password ?? "")") }
    }
}
