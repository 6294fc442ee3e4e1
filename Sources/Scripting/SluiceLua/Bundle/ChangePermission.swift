/// A change that needs a permission of its own: with it a script could pretend to be the user, the application or the
/// server.
package enum ChangePermission: String, CaseIterable {
    /// The address of a request, and header fields that some servers read in its place.
    case url = "request.url"
    /// Its method, and header fields that some servers read in its place.
    case method = "request.method"
    /// The id in the body of a write.
    case id = "request.id"
    /// Header fields with credentials: `Authorization`, `Cookie`, `X-ZUMO-AUTH` and their like.
    case credentials = "request.credentials"
    /// Header fields with conditions: `If-Match`, `If-None-Match` and their like.
    case conditions = "request.conditions"
    /// The answer to a push: answering without the server, and rewriting the server's answer.
    case pushAnswer = "push.answer"

    /// The purpose of the permission, for a refusal.
    var action: String {
        switch self {
        case .url: "to change req.url, or a header field that a server may read for it,"
        case .method: "to change req.method, or a header field that a server may read for it,"
        case .id: "to change the id in the body of a write"
        case .credentials: "to change a header field with credentials"
        case .conditions: "to change a header field with a condition"
        case .pushAnswer: "to answer a push, or to rewrite its answer,"
        }
    }

    /// Header fields, in small letters, that only a plugin with the permission may set, change or remove.
    package static let fields: [(names: Set<String>, permission: ChangePermission)] = [
        (credentialFields, .credentials), (conditionFields, .conditions),
        (["x-http-method-override", "x-http-method", "x-method-override"], .method),
        (["x-original-url", "x-rewrite-url"], .url),
    ]
    /// Header fields with credentials, in small letters.
    static let credentialFields: Set<String> = [
        "authorization", "proxy-authorization", "x-zumo-auth", "x-zumo-application", "x-zumo-master", "x-api-key",
        "cookie", "set-cookie",
    ]
    /// Header fields with conditions, in small letters.
    private static let conditionFields: Set<String> = [
        "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range",
    ]
}
