internal import HTTPTypes
internal import SluiceCore

/// Makes of what a script has done to a request's document the request that goes on, as far as the plugin may.
final class RequestEditor: Sendable {
    let request: Request
    let permissions: PluginPermissions
    let secrets: SecretBook
    /// The request as the script was given it: what it has left alone is recognised by being the very same.
    let given: JSON
    /// The fields that it sees, and those that it does not.
    private let shown: [HTTPField]
    private let hidden: [HTTPField]

    init(request: Request, permissions: PluginPermissions, secrets: SecretBook) {
        self.request = request
        self.permissions = permissions
        self.secrets = secrets
        var (shown, hidden): ([HTTPField], [HTTPField]) = ([], [])
        for field in request.head.headerFields {
            if Self.isHidden(field, permissions, secrets) { hidden.append(field) } else { shown.append(field) }
        }
        (self.shown, self.hidden) = (shown, hidden)
        given = RequestDocument.document(of: request, fields: shown)
    }

    /// Fields that say how bytes travel: they are the transport's.
    private static let framing: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "keep-alive",
        "proxy-connection",
    ]

    /// Whether the script does not see a field.
    func isHidden(_ field: HTTPField) -> Bool { Self.isHidden(field, permissions, secrets) }

    private static func isHidden(
        _ field: HTTPField, _ permissions: PluginPermissions, _ secrets: SecretBook
    ) -> Bool {
        let name = field.name.canonicalName
        if permissions.readHeaders.contains(name) { return false }
        return RequestDocument.credentials.contains(name) || secrets.redact.finds(in: field.value)
    }

    /// The document for those that only look at the request: without its body.
    var seen: JSON {
        var document = given
        document["body"] = nil
        return document
    }

    /// The request as the document says.
    ///
    /// - Throws: ``Denied`` for a change that the plugin has no permission for; ``ScriptFailure`` for one that no
    ///   request can have.
    func request(_ document: JSON, bodies: [Body]) throws -> Request {
        var edited = request
        func text(_ name: String) throws -> String {
            guard let text = document[name]?.string else { throw Self.refusal("req.\(name) is a text") }
            return text
        }
        func isChanged(_ name: StaticString) -> Bool { document.hasOther(name, than: given) }
        if isChanged("method") {
            try require("request.method")
            guard let method = HTTPRequest.Method(try text("method")) else { throw Self.refusal("no such method") }
            edited.head.method = method
        }
        if isChanged("url") {
            try require("request.url")
            try move(&edited, to: try text("url"))
        } else {
            try address(document, &edited, isChanged)
        }
        if isChanged("headers") { edited.head.headerFields = try fields(document["headers"] ?? .array) }
        if let body = bodies.first { edited.body = body }
        return edited
    }

    private func address(_ document: JSON, _ edited: inout Request, _ isChanged: (StaticString) -> Bool) throws {
        let isMoved = isChanged("scheme") || isChanged("host") || isChanged("path")
        let hasOtherQuery = isChanged("query")
        guard isMoved || hasOtherQuery else { return }
        let query = document["query"]?["text"]?.string ?? ""
        if hasOtherQuery, PercentEncoding.mended(query) != query {
            throw Self.refusal("req.query holds characters that an address cannot; use query:set")
        }
        guard isMoved else {
            let path = document["path"]?.string ?? "/"
            edited.head.path = query.isEmpty ? path : "\(path)?\(query)"
            return
        }
        try require("request.url")
        let path = (document["path"]?.string ?? "/") + (query.isEmpty ? "" : "?\(query)")
        try move(&edited, to: "\(document["scheme"]?.string ?? "")://\(document["host"]?.string ?? "")\(path)")
    }

    /// Sends the request elsewhere: to the same server, or to a host that the plugin may talk to.
    private func move(_ edited: inout Request, to url: String) throws {
        let address = try PluginAddress(url)
        let isSame = address.scheme == request.head.scheme && address.authority == request.head.authority?.lowercased()
        if !isSame {
            try address.require(permissions.http, "the request may not go to")
            // Credentials were for the other server.
            for name in Self.credentialNames { edited.head.headerFields[name] = nil }
        }
        edited.head.scheme = address.scheme
        edited.head.authority = address.authority
        edited.head.path = address.path
    }

    private static let credentialNames = RequestDocument.credentials.compactMap { HTTPField.Name($0) }

    private func require(_ change: String) throws {
        guard permissions.change.contains(change) else {
            throw Denied(
                "to change \(change.replacing("request.", with: "req.")) needs the permission change: \(change)")
        }
    }

    /// The fields of the list, and behind them those that the script did not see and has not set.
    private func fields(_ list: JSON) throws -> HTTPFields {
        var fields = HTTPFields()
        let old = given["headers"] ?? .array
        for (entry, place) in list.places(in: old) {
            if let place, shown.indices.contains(place) {
                fields.append(shown[place])
                continue
            }
            let name = entry[0]?.string ?? ""
            let field = try Self.field(name, secrets.revealed(entry[1]?.string ?? ""))
            guard !Self.framing.contains(field.name.canonicalName) || old.elements?.contains(entry) == true else {
                throw Self.refusal("the header \(name) is the transport's")
            }
            fields.append(field)
        }
        for field in hidden where fields[field.name] == nil { fields.append(field) }
        return fields
    }

    /// A field, if name and value are such as can be sent: no line end, no NUL.
    static func field(_ name: String, _ value: String) throws -> HTTPField {
        guard let fieldName = HTTPField.Name(name) else {
            throw refusal("a header's name is letters, digits and signs without spaces")
        }
        guard HTTPField.isValidValue(value) else {
            throw refusal("the header \(name) would have a line end or a control character in its value")
        }
        return HTTPField(name: fieldName, value: value)
    }

    private static func refusal(_ message: String) -> ScriptFailure { ScriptFailure(.badResult, message) }
}
