internal import Crypto
internal import Foundation
internal import HTTPTypes
internal import SluiceCore

/// Prevents other sites from making a browser send changes: a change needs a token from an answer, which other sites
/// cannot read, and its cookie. (SAP Gateway's form: `X-CSRF-Token: Fetch`.)
///
/// The token is a keyed hash of the cookie, so no state is kept for each client. All processes on one database share
/// the key if they share a secret. Otherwise a token of an earlier process is refused, and the client fetches another.
struct CSRFGuard: Sendable {
    private static let field = HTTPField.Name("X-CSRF-Token")
    private static let cookie = "sluice-session"
    private static let safe: [HTTPRequest.Method] = [.get, .head, .options]

    let isRequired: Bool
    private let key: SymmetricKey

    /// - Parameter secret: the shared secret of several processes, from which the key is derived; nil for a random key.
    init(isRequired: Bool, secret: String?) {
        self.isRequired = isRequired
        key =
            secret.map { secret in
                SymmetricKey(
                    data: HMAC<SHA256>.authenticationCode(
                        for: Data("X-CSRF-Token".utf8), using: SymmetricKey(data: Data(secret.utf8))))
            } ?? SymmetricKey(size: .bits256)
    }

    /// - Throws: ``Refusal`` (403) for a change without a matching token and cookie, if they are required.
    func check(_ head: HTTPRequest) throws(Refusal) {
        guard isRequired, !Self.safe.contains(head.method), let field = Self.field else { return }
        guard let session = session(head), let text = head.headerFields[field], let token = Base16.bytes(text),
            HMAC<SHA256>.isValidAuthenticationCode(token, authenticating: Data(session.utf8), using: key)
        else {
            var refusal = Refusal(
                .forbidden, "the change needs the token of a read with X-CSRF-Token: Fetch, and its cookie")
            refusal.headers[field] = "Required"
            throw refusal
        }
    }

    /// Adds the token requested by a read, and a cookie for a client without one.
    func answer(_ head: HTTPRequest, _ headers: inout HTTPFields) {
        guard Self.safe.contains(head.method), let field = Self.field,
            head.headerFields[field]?.lowercased() == "fetch"
        else { return }
        let known = session(head)
        let session = known ?? Self.makeSession()
        headers[field] = Base16.text(Array(HMAC<SHA256>.authenticationCode(for: Data(session.utf8), using: key)))
        if known == nil {
            let cookie = "\(Self.cookie)=\(session); Path=/odata; HttpOnly; SameSite=Strict"
            headers.append(HTTPField(name: .setCookie, value: cookie))
        }
    }

    private func session(_ head: HTTPRequest) -> String? {
        for pair in head.headerFields[values: .cookie].flatMap({ $0.split(separator: ";") }) {
            let sides = pair.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
            if sides.count == 2, sides[0] == Self.cookie, sides[1].utf8.count == 32, Base16.bytes(sides[1]) != nil {
                return sides[1]
            }
        }
        return nil
    }

    private static func makeSession() -> String {
        SymmetricKey(size: .bits128).withUnsafeBytes { Base16.text(Array($0)) }
    }
}

/// The headers that allow pages of other sites to use the service (CORS; Fetch Standard, section 3.2).
struct CrossOrigin: Sendable {
    private static let shown =
        "ETag, Location, OData-EntityId, OData-Version, DataServiceVersion, Preference-Applied, Retry-After, X-CSRF-Token"

    /// The allowed origins; `*` stands for all.
    let origins: Set<String>

    /// Adds the headers that allow the request's origin to read the answer, and for a preflight the allowed requests.
    func allow(_ head: HTTPRequest, _ headers: inout HTTPFields) {
        guard !origins.isEmpty else { return }
        headers[values: .vary].append("Origin")
        guard let origin = head.headerFields[.origin] else { return }
        let isNamed = origins.contains(origin)
        guard isNamed || origins.contains("*") else { return }
        headers[.accessControlAllowOrigin] = isNamed ? origin : "*"
        if isNamed { headers[.accessControlAllowCredentials] = "true" }
        headers[.accessControlExposeHeaders] = Self.shown
        guard head.method == .options, head.headerFields[.accessControlRequestMethod] != nil else { return }
        headers[.accessControlAllowMethods] = headers[.allow]
        headers[.accessControlAllowHeaders] = head.headerFields[.accessControlRequestHeaders]
        headers[.accessControlMaxAge] = "600"
    }
}
