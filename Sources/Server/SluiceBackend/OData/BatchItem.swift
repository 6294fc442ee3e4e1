internal import HTTPTypes
internal import SluiceCore
internal import SluiceOData

/// A request in a batch.
struct BatchItem: Sendable {
    /// Its name, for references by other requests to its new entity: `Content-ID`, or `id` in JSON.
    var id: String?
    /// The change set of the request; nil for none.
    var group: String?
    var dependsOn: [String] = []
    /// The request, or the refusal of an unreadable one.
    var request: Result<SyncRequest, Refusal>
}

/// Parses the requests of a batch.
struct BatchItemReader {
    private static let userFields = ["Authorization", "X-ZUMO-AUTH"].compactMap { HTTPField.Name($0) }

    let call: ServiceCall

    // MARK: multipart/mixed

    /// Reads the requests of a body; all requests of a change set have one group.
    ///
    /// - Throws: ``Refusal`` (400).
    func items(_ body: [UInt8], boundary: String) throws(Refusal) -> [BatchItem] {
        var items: [BatchItem] = []
        for (index, part) in try parts(body[...], boundary).enumerated() {
            if let inner = MultipartReader.boundary(part.fields["content-type"]) {
                for change in try parts(part.body, inner) { items.append(try item(change, group: "\(index)")) }
            } else {
                items.append(try item(part, group: nil))
            }
        }
        guard items.count <= BatchDocument.mostParts else {
            throw Refusal(.badRequest, "a batch has at most \(BatchDocument.mostParts) requests")
        }
        return items
    }

    private func parts(
        _ body: ArraySlice<UInt8>, _ boundary: String
    ) throws(Refusal) -> [MultipartReader.Part] {
        try Self.read { () throws(MultipartReader.Refusal) in try MultipartReader.parts(body, boundary: boundary) }
    }

    private static func read<Value>(
        _ read: () throws(MultipartReader.Refusal) -> Value
    ) throws(Refusal) -> Value {
        do { return try read() } catch { throw Refusal(.badRequest, error.description) }
    }

    private func item(_ part: MultipartReader.Part, group: String?) throws(Refusal) -> BatchItem {
        guard part.fields["content-type"]?.lowercased().hasPrefix("application/http") == true else {
            throw Refusal(.badRequest, "the multipart body has a part that is not application/http")
        }
        let message = try Self.read { () throws(MultipartReader.Refusal) in try MultipartReader.message(part) }
        return BatchItem(
            id: message.id, group: group,
            request: Result { () throws(Refusal) in try request(message, isInGroup: group != nil) })
    }

    private func request(_ message: MultipartReader.Message, isInGroup: Bool) throws(Refusal) -> SyncRequest {
        let words = message.line.split(separator: " ")
        guard words.count >= 3, let last = words.last, last.hasPrefix("HTTP/1.") else {
            throw Refusal(.badRequest, "a request in a batch begins with METHOD URL HTTP/1.1")
        }
        // Some clients leave spaces in a query.
        let url = words.dropFirst().dropLast().joined(separator: "%20")
        return try request(
            String(words[0]), url, message.fields.map { ($0.key, $0.value) }, message.body, isInGroup: isInGroup)
    }

    // MARK: JSON

    /// Reads the requests of a JSON batch (OData JSON Format 4.01, section 19).
    ///
    /// - Throws: ``Refusal`` (400).
    func items(_ document: JSON) throws(Refusal) -> [BatchItem] {
        try BatchPartReader.parts(of: document).map { part in
            BatchItem(
                id: part.id, group: part.group, dependsOn: part.dependsOn,
                request: Result { () throws(Refusal) in try request(part) })
        }
    }

    private func request(_ part: BatchDocument.Part) throws(Refusal) -> SyncRequest {
        guard let method = part.method, let url = part.url else {
            throw Refusal(.badRequest, "a request in a batch has a method and a url")
        }
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else {
            throw Refusal(.badRequest, "the url of a request in a batch has a character that must be encoded")
        }
        var fields: [(String, String)] = []
        for (name, value) in part.headers?.members ?? [] {
            guard let text = value.string else { throw Refusal(.badRequest, "headers is an object of texts") }
            fields.append((name.text, text))
        }
        var bytes: [UInt8] = []
        if let body = part.body {
            let type = fields.first { $0.0.lowercased() == "content-type" }?.1.lowercased() ?? "application/json"
            bytes = !type.contains("json") && body.string != nil ? Array((body.string ?? "").utf8) : body.bytes()
        }
        return try request(method, url, fields, bytes, isInGroup: part.group != nil)
    }

    // MARK: Requests

    private func request(
        _ name: String, _ url: String, _ fields: [(String, String)], _ body: [UInt8], isInGroup: Bool
    ) throws(Refusal) -> SyncRequest {
        guard ["GET", "POST", "PUT", "PATCH", "MERGE", "DELETE"].contains(name.uppercased()),
            let method = HTTPRequest.Method(name.uppercased())
        else { throw Refusal(.badRequest, "a request in a batch is GET, POST, PUT, PATCH, MERGE or DELETE") }
        if isInGroup, method == .get { throw Refusal(.badRequest, "a change set holds changes only") }
        var head = HTTPRequest(
            method: method, scheme: call.head.scheme, authority: call.head.authority, path: path(url))
        guard fields.count <= 100 else { throw Refusal(.badRequest, "a request in a batch has too many header fields") }
        for (name, value) in fields where !["content-id", "content-length", "host"].contains(name.lowercased()) {
            guard let field = HTTPField.Name(name), HTTPField.isValidValue(value) else {
                throw Refusal(.badRequest, "a request in a batch has an unreadable header field")
            }
            head.headerFields.append(HTTPField(name: field, value: value))
        }
        head.inheritPrefix(of: call.head)
        // Without credentials of its own the request gets the batch's user.
        if !Self.userFields.contains(where: { head.headerFields.contains($0) }) {
            for field in Self.userFields {
                head.headerFields[values: field] = call.head.headerFields[values: field]
            }
        }
        return SyncRequest(head, body: MessageBody(bytes: body))
    }

    /// Returns the path and query of a url: absolute, relative to the server's root, or to the service's.
    private func path(_ url: String) -> String {
        let root = "/" + call.version.root.joined(separator: "/") + "/"
        var path = url[...]
        if let scheme = url.firstRange(of: "://") { path = url[scheme.upperBound...].drop { $0 != "/" } }
        if !call.target.prefix.isEmpty, path.hasPrefix(call.target.prefix + root) {
            path = path.dropFirst(call.target.prefix.count)
        }
        if path.hasPrefix(root) { return String(path) }
        return root + path.drop { $0 == "/" }
    }
}
