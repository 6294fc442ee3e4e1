internal import HTTPTypes
internal import SluiceCore

/// Makes a request from a part of a batch. It is then answered like any other, so its permissions are checked there,
/// and here only its form.
struct BatchPartReader {
    private static let methods: [HTTPRequest.Method] = [.get, .post, .put, .patch, .delete]
    /// The header fields that select the wire.
    private static let wireFields = ["ZUMO-API-VERSION", "X-ZUMO-APPLICATION"].compactMap { HTTPField.Name($0) }
    /// The header fields that authenticate the user.
    private static let userFields = ["Authorization", "X-ZUMO-AUTH"].compactMap { HTTPField.Name($0) }

    private let outer: HTTPRequest
    private let target: RequestTarget

    init(_ outer: HTTPRequest, _ target: RequestTarget) {
        self.outer = outer
        self.target = target
    }

    /// Returns the requests of a batch, in their order.
    ///
    /// - Throws: ``Refusal`` (400) for an invalid batch as a whole.
    static func parts(of document: JSON) throws(Refusal) -> [BatchDocument.Part] {
        do throws(BatchDocument.Fault) {
            return try BatchDocument.parts(of: document)
        } catch {
            throw refusal(error.reason)
        }
    }

    func request(_ part: BatchDocument.Part) throws(Refusal) -> SyncRequest {
        guard let name = part.method?.uppercased(),
            let method = Self.methods.first(where: { $0.rawValue == name })
        else { throw Self.refusal("the method is GET, POST, PUT, PATCH or DELETE") }
        guard let url = part.url else { throw Self.refusal("the request has no url") }
        var head = HTTPRequest(
            method: method, scheme: outer.scheme, authority: outer.authority, path: try Self.path(url))
        head.headerFields = try Self.headers(part.headers)
        head.inheritPrefix(of: outer)
        let inner = RequestTarget(head)
        guard inner.segments.dropFirst().first != BatchDocument.name else {
            throw Self.refusal("a batch holds no batch")
        }
        if method == .get {
            if part.group != nil { throw Self.refusal("an atomicity group holds changes only") }
            // The pages of many lists could exceed the memory.
            guard inner.segments.count == 3 else {
                throw Self.refusal("a batch reads records by their ids; lists are asked for by themselves")
            }
        }
        inherit(into: &head, inner)
        var body = MessageBody.empty
        if let json = part.body {
            body = MessageBody(json: json)
            if head.headerFields[.contentType] == nil { head.headerFields[.contentType] = "application/json" }
        }
        return SyncRequest(head, body: body)
    }

    /// Copies the wire and the user from the batch unless the part has its own.
    private func inherit(into head: inout HTTPRequest, _ inner: RequestTarget) {
        let names = [Self.wireFields, Self.userFields]
        for (index, names) in names.enumerated() where !names.contains(where: { head.headerFields.contains($0) }) {
            if index == 0, !inner.values("zumo-api-version").isEmpty { continue }
            for name in names { head.headerFields[values: name] = outer.headerFields[values: name] }
            // The version in the batch's query overrides the one in its headers.
            if index == 0, let version = target.values("zumo-api-version").first, let name = names.first,
                HTTPField.isValidValue(version)
            {
                head.headerFields[name] = version
            }
        }
    }

    /// Returns the path and query of a part's url, which is relative to the batch's root, or absolute.
    private static func path(_ url: String) throws(Refusal) -> String {
        let path = url.hasPrefix("/") ? String(url.dropFirst()) : url
        guard path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else {
            throw refusal("the url has a character that must be encoded")
        }
        guard path.hasPrefix("tables/") else {
            throw refusal("the url is relative and begins with tables/")
        }
        return "/" + path
    }

    private static func headers(_ json: JSON?) throws(Refusal) -> HTTPFields {
        guard let json, json != .null else { return [:] }
        guard json.kind == .object, json.count <= 100 else { throw refusal("headers is an object of texts") }
        var fields = HTTPFields()
        for (name, value) in json.members ?? [] {
            guard let field = HTTPField.Name(name.text), let text = value.string, HTTPField.isValidValue(text) else {
                throw refusal("a header is no valid one")
            }
            fields.append(HTTPField(name: field, value: text))
        }
        return fields
    }

    private static func refusal(_ reason: String) -> Refusal { Refusal(.badRequest, reason) }
}
