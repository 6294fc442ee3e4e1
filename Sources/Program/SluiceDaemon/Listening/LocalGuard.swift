internal import Foundation
internal import HTTPTypes
internal import Sluice

/// The checks on requests to a port of this machine, because any local program and any web page can send some. `Host`
/// must name this machine (DNS rebinding cannot fake it), `Origin` must not be another, and the token must match.
struct LocalGuard: Sendable {
    /// The token; nil if any user of this machine may connect.
    let token: String?

    /// Returns the refusal of a request; nil if it may pass.
    func refusal(of request: LocalRequest) -> LocalReply? {
        let authority = request.head.authority ?? ""
        guard Self.isLocal(authority) else {
            return .refusal(.misdirectedRequest, "wrongHost", "this listener answers to names of this machine only")
        }
        if let name = HTTPField.Name("Origin"), let origin = request.head.headerFields[name],
            origin != "http://\(authority)"
        {
            return .refusal(.forbidden, "crossOrigin", "this listener answers no other origin")
        }
        if let name = HTTPField.Name("Sec-Fetch-Site"), let site = request.head.headerFields[name],
            !["same-origin", "none"].contains(site)
        {
            return .refusal(.forbidden, "crossOrigin", "this listener answers no other origin")
        }
        guard let token else { return nil }
        guard given(request).contains(where: { Self.isEqual($0, token) }) else {
            return .refusal(.unauthorized, "unauthorized", "this listener needs its token")
        }
        return nil
    }

    private func given(_ request: LocalRequest) -> [String] {
        let fields = request.head.headerFields
        var texts: [String] = []
        if let text = fields[.authorization], text.lowercased().hasPrefix("bearer ") {
            texts.append(String(text.dropFirst("bearer ".count)))
        }
        if let name = HTTPField.Name("X-ZUMO-AUTH"), let text = fields[name] { texts.append(text) }
        return texts
    }

    private static func isLocal(_ authority: String) -> Bool {
        let host =
            authority.hasPrefix("[")
            ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        return ["127.0.0.1", "localhost", "[::1]"].contains(host.lowercased())
    }

    /// Compares in constant time, so that the duration does not reveal the first difference.
    static func isEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
