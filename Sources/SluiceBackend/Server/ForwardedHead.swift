internal import HTTPTypes
internal import NIOCore
internal import SluiceCore

/// The request as the client sent it, where a proxy before the listener says so: `Forwarded` (RFC 7239), or else
/// `X-Forwarded-Proto`, `-Host` and `-Prefix`. Of several values the first is the client's side.
///
/// Only proxies that the configuration trusts are heard; of others the prefix is taken away, so that nobody else reads it.
struct ForwardedHead {
    let proxies: [AddressRange]

    func head(_ head: HTTPRequest, from peer: SocketAddress?) -> HTTPRequest {
        var head = head
        guard isTrusted(peer) else {
            if let name = ForwardedPrefix.field { head.headerFields[values: name] = [] }
            return head
        }
        let forwarded = Self.parameters(head.headerFields)
        func value(_ name: String, _ field: String) -> String? {
            forwarded[name] ?? HTTPField.Name(field).flatMap { head.headerFields[$0] }.map(Self.first)
        }
        if let scheme = value("proto", "X-Forwarded-Proto")?.lowercased(), ["http", "https"].contains(scheme) {
            head.scheme = scheme
        }
        if let host = value("host", "X-Forwarded-Host"), !host.isEmpty { head.authority = host }
        return head
    }

    private func isTrusted(_ peer: SocketAddress?) -> Bool {
        guard let peer else { return false }
        // A proxy on a Unix socket is on this machine.
        guard let text = peer.ipAddress else { return true }
        return NetworkAddress(text).map { address in proxies.contains { $0.contains(address) } } ?? false
    }

    private static func first(_ list: String) -> String {
        String(list.split(separator: ",").first ?? "").filter { $0 != " " && $0 != "\t" }
    }

    /// The parameters of the first element of `Forwarded`.
    private static func parameters(_ fields: HTTPFields) -> [String: String] {
        guard let name = HTTPField.Name("Forwarded"), let field = fields[name] else { return [:] }
        var parameters: [String: String] = [:]
        for pair in first(field).split(separator: ";") {
            let sides = pair.split(separator: "=", maxSplits: 1)
            if sides.count == 2 { parameters[sides[0].lowercased()] = String(sides[1]).filter { $0 != "\"" } }
        }
        return parameters
    }
}
