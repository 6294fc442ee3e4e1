package import HTTPTypes
package import SluiceCore

/// Applies a script's changes of a request's document to the request, as far as the plugin's permissions allow.
package final class RequestEditor: Sendable {
    let request: SyncRequest
    /// The plugin's name.
    let plugin: String
    let permissions: PluginPermissions
    let secrets: SecretBook
    /// The document given to the script: an untouched value in its result is recognized by identity.
    package let given: JSON
    /// The fields that the script sees, and the hidden ones.
    private let shown: [HTTPField]
    private let hidden: [HTTPField]

    package init(request: SyncRequest, of plugin: String = "", permissions: PluginPermissions, secrets: SecretBook) {
        self.request = request
        self.plugin = plugin
        self.permissions = permissions
        self.secrets = secrets
        var (shown, hidden): ([HTTPField], [HTTPField]) = ([], [])
        for field in request.head.headerFields {
            if Self.isHidden(field, permissions, secrets) { hidden.append(field) } else { shown.append(field) }
        }
        (self.shown, self.hidden) = (shown, hidden)
        given = RequestDocument.document(of: request, fields: shown)
    }

    /// Fields about the framing of a message: only the transport sets them.
    private static let framing: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "keep-alive",
        "proxy-connection", "expect",
    ]

    /// Whether a field is hidden from the script.
    package func isHidden(_ field: HTTPField) -> Bool { Self.isHidden(field, permissions, secrets) }

    private static func isHidden(
        _ field: HTTPField, _ permissions: PluginPermissions, _ secrets: SecretBook
    ) -> Bool {
        let name = field.name.canonicalName
        if permissions.readHeaders.contains(name) { return false }
        return isCredential(field.name) || secrets.redact.finds(in: field.value)
    }

    private static func isCredential(_ name: HTTPField.Name) -> Bool {
        ChangePermission.credentialFields.contains(name.canonicalName) || CredentialNames.isCredential(name)
    }

    /// The document for hooks that only read the request: without its body.
    package var seen: JSON {
        var document = given
        document["body"] = nil
        return document
    }

    /// Returns the request with the changes of the document.
    ///
    /// - Throws: ``Denied`` for a change without the permission; ``ScriptFailure`` for values that a request cannot
    ///   have.
    func request(_ document: JSON, bodies: [MessageBody]) throws -> SyncRequest {
        var edited = request
        func isChanged(_ name: StaticString) -> Bool { document.hasOther(name, than: given) }
        if isChanged("method") {
            try permissions.require(.method)
            guard let method = HTTPRequest.Method(try text("method", of: document)) else {
                throw Self.refusal("no such method")
            }
            edited.head.method = method
        }
        if isChanged("url") {
            try permissions.require(.url)
            try move(&edited, to: try text("url", of: document))
        } else {
            try address(document, &edited, isChanged)
        }
        let isElsewhere = PluginAddress(of: edited.head).isElsewhere(than: PluginAddress(of: request.head))
        if isChanged("headers") {
            edited.head.headerFields = try fields(document["headers"] ?? .array, to: PluginAddress(of: edited.head))
            try requireFields(edited.head.headerFields)
        }
        // Credentials belong to the original server, and so do secrets inserted earlier.
        if isElsewhere {
            let old = request.head.headerFields
            edited.head.headerFields = edited.head.headerFields.filter { field in
                !(Self.isCredential(field.name) || isHidden(field)) || !old[fields: field.name].contains(field)
            }
        }
        if let body = bodies.first {
            edited.body = body
            try requireID(of: body)
            try requireVersion(of: body)
        }
        return edited
    }

    private func text(_ name: String, of document: JSON) throws -> String {
        guard let text = document[name]?.string else { throw Self.refusal("req.\(name) is a text") }
        return text
    }

    private func address(_ document: JSON, _ edited: inout SyncRequest, _ isChanged: (StaticString) -> Bool) throws {
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
        try permissions.require(.url)
        let path = (document["path"]?.string ?? "/") + (query.isEmpty ? "" : "?\(query)")
        try move(&edited, to: "\(document["scheme"]?.string ?? "")://\(document["host"]?.string ?? "")\(path)")
    }

    /// Changes the address, within the same server or to a host of the plugin's permissions.
    private func move(_ edited: inout SyncRequest, to url: String) throws {
        let address = try PluginAddress(url)
        if address.isElsewhere(than: PluginAddress(of: request.head)) {
            try address.require(permissions.http, "the request may not go to")
        }
        edited.head.scheme = address.scheme
        edited.head.authority = address.authority
        edited.head.path = address.path
    }

    /// Refuses changed fields without the permission: credentials, conditions, and fields that a server may read as the
    /// method or the address.
    private func requireFields(_ fields: HTTPFields) throws {
        let old = request.head.headerFields
        func isChanged(_ names: Set<String>) -> Bool {
            names.contains { name in
                HTTPField.Name(name).map { name in
                    old[values: name].map { Array($0.utf8) } != fields[values: name].map { Array($0.utf8) }
                } ?? false
            }
        }
        // Names that only look like credentials count if the request came with them.
        let present = Set(old.map(\.name).filter(CredentialNames.isCredential).map(\.canonicalName))
        if isChanged(present) { try permissions.require(.credentials) }
        for (names, permission) in ChangePermission.fields where isChanged(names) {
            try permissions.require(permission)
        }
    }

    /// Refuses a body with another id if the plugin may not change the id. Only an insert must keep the id in the body:
    /// the address of any other write has it too.
    private func requireID(of body: MessageBody) throws {
        let context = request.context
        guard [.insert, .update, .delete, .undelete].contains(context.action), body.bytes != request.body.bytes else {
            return
        }
        let (old, new) = (try? request.body.json, try? body.json)
        // A server may ignore the case of names.
        func ids(_ json: JSON?) -> [PropertyName: JSON] {
            let members = (json?.members ?? []).filter { $0.name.text.lowercased() == "id" }
            return Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        }
        var (before, after) = (ids(old), ids(new))
        if before.isEmpty, let id = context.recordID, after["id"]?.text?.hasSameBytes(as: id.text) == true {
            before["id"] = after["id"]
        }
        if after.isEmpty, context.action != .insert, new?.kind == .object || body.isEmpty { after = before }
        let isUnreadable = new == nil && old != nil && !body.isEmpty
        // Ids are compared by bytes: another form of a letter is another id.
        let isSame = before.mapValues { $0.bytes() } == after.mapValues { $0.bytes() }
        if !isSame || isUnreadable { try permissions.require(.id) }
    }

    /// Refuses a body with another version if the plugin may not change conditions: later in the chain the version
    /// becomes `If-Match`. A version that the context has too may be left out.
    private func requireVersion(of body: MessageBody) throws {
        guard [.update, .delete, .undelete].contains(request.context.action), body.bytes != request.body.bytes else {
            return
        }
        func versions(_ body: MessageBody) -> [[UInt8]] {
            let members = (try? body.json)?.members ?? []
            return members.filter { ["version", "__version"].contains($0.name.text.lowercased()) }
                .compactMap { $0.value.string.map { Array($0.utf8) } }.filter { !$0.isEmpty }
        }
        var (before, after) = (versions(request.body), versions(body))
        if let known = request.context.version.map({ Array($0.utf8) }) {
            // Any other version is an application's own property, on a wire protocol with another name for the version.
            if !before.allSatisfy({ $0 == known }) { return }
            before = [known]
            after = after.isEmpty ? before : after.filter { $0 != known } + [known]
        }
        if before != after { try permissions.require(.conditions) }
    }

    /// Refuses an answer to a push without the permission.
    func requireAnswer() throws { if isPush { try permissions.require(.pushAnswer) } }

    /// Whether the request sends a queued operation.
    var isPush: Bool { request.context.source == .push }

    /// Returns the answer marked as made by the plugin, so that its effect on the queue can be attributed.
    func signed(_ response: SyncResponse) -> SyncResponse {
        guard isPush else { return response }
        var response = response
        response.madeBy.append(plugin)
        return response
    }

    /// Returns the fields of the list, followed by hidden fields that the script did not set.
    private func fields(_ list: JSON, to address: PluginAddress) throws -> HTTPFields {
        var fields = HTTPFields()
        let old = given["headers"] ?? .array
        for (entry, place) in list.places(in: old) {
            if let place, shown.indices.contains(place) {
                fields.append(shown[place])
                continue
            }
            let name = entry[0]?.string ?? ""
            let field = try Self.field(name, try address.revealed(entry[1]?.string ?? "", by: secrets))
            if old.elements?.contains(entry) != true { try Self.requireNoFraming(field) }
            fields.append(field)
        }
        for field in hidden where fields[field.name] == nil { fields.append(field) }
        return fields
    }

    /// Refuses a field about the framing of a message.
    static func requireNoFraming(_ field: HTTPField) throws {
        guard !framing.contains(field.name.canonicalName) else {
            throw refusal("the header \(field.name.rawName) is the transport's")
        }
    }

    /// Returns a field if its name and value can be sent: no line end, no NUL.
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

/// A request as scripts see it.
package enum RequestDocument {
    /// Returns the document of a request with those fields.
    static func document(of request: SyncRequest, fields: [HTTPField]) -> JSON {
        let head = request.head
        let path = head.path ?? "/"
        let end = path.utf8.firstIndex(of: UInt8(ascii: "?")) ?? path.utf8.endIndex
        let context = request.context
        let query = DocumentWriter()
        query.set("text", String(path[end...].dropFirst()))
        let document = DocumentWriter()
        document.set("method", head.method.rawValue)
        document.set("url", url(of: head))
        document.set("scheme", head.scheme ?? "")
        document.set("host", head.authority ?? "")
        document.set("path", String(path[..<end]))
        document.set("query", query.finish())
        document.set("headers", fields)
        document.set("kind", context.action.rawValue)
        document.set("source", context.source.rawValue)
        document.set("attempt", context.attempt)
        if let table = context.table { document.set("table", table) }
        if let id = context.recordID { document.set("record_id", id.text) }
        if let version = context.version { document.set("version", version) }
        if let columns = context.systemProperties {
            document.set("system_properties", JSON(columns.map { JSON($0) }))
        }
        if let id = context.operationID {
            document.set("operation", operation(ofRequest: id))
            document.set("idempotency_key", id)
        }
        if !context.tags.isEmpty { document.set("tags", JSON(context.tags.sorted().map { JSON($0) })) }
        document.set("body", bodyOfCall)
        return document.finish()
    }

    /// Returns the operation's own id, without the revision that its request id ends with.
    private static func operation(ofRequest id: String) -> String {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count > 1, let revision = parts.last, Int(revision) != nil else { return id }
        return parts.dropLast().joined(separator: "-")
    }

    package static func url(of head: HTTPRequest) -> String {
        "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "/")"
    }

    /// The call's own body: the first of its bodies.
    private static let bodyOfCall: JSON = ["slot": 0]
}
