internal import HTTPTypes
internal import SluiceCore

/// A request as scripts see it.
enum RequestDocument {
    /// The document of a request with those of its fields.
    static func document(of request: Request, fields: [HTTPField]) -> JSON {
        let head = request.head
        let path = head.path ?? "/"
        let end = path.utf8.firstIndex(of: UInt8(ascii: "?")) ?? path.utf8.endIndex
        let context = request.context
        var document = JSON(members: [
            ("method", JSON(head.method.rawValue)), ("url", JSON(url(of: head))),
            ("scheme", JSON(head.scheme ?? "")), ("host", JSON(head.authority ?? "")),
            ("path", JSON(String(path[..<end]))),
            ("query", JSON(members: [("text", JSON(String(path[end...].dropFirst())))])),
            ("headers", headers(fields)), ("kind", JSON(context.action.rawValue)),
            ("source", JSON(context.source.rawValue)), ("attempt", JSON(context.attempt)),
        ])
        if let table = context.table { document["table"] = JSON(table) }
        if let id = context.recordID { document["record_id"] = JSON(id) }
        if let version = context.version { document["version"] = JSON(version) }
        if let columns = context.systemProperties {
            document["system_properties"] = JSON(columns.map { JSON($0) })
        }
        if let id = context.operationID {
            document["operation"] = JSON(operation(ofRequest: id))
            document["idempotency_key"] = JSON(id)
        }
        if !context.tags.isEmpty { document["tags"] = JSON(context.tags.sorted().map { JSON($0) }) }
        document["body"] = bodyOfCall
        return document
    }

    /// The operation's own id: that of its request has the revision behind it.
    private static func operation(ofRequest id: String) -> String {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count > 1, let revision = parts.last, Int(revision) != nil else { return id }
        return parts.dropLast().joined(separator: "-")
    }

    static func url(of head: HTTPRequest) -> String {
        "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "/")"
    }

    /// The call's own body, the first of its bodies.
    private static let bodyOfCall: JSON = ["slot": 0]

    /// Fields as `[[name, value]]`, in order.
    static func headers(_ fields: some Sequence<HTTPField>) -> JSON {
        var list = JSON.array
        for field in fields { list.append([JSON(field.name.rawName), JSON(field.value)]) }
        return list
    }

    /// Header fields that hold credentials, in small letters.
    static let credentials: Set<String> = [
        "authorization", "proxy-authorization", "x-zumo-auth", "x-zumo-application", "x-zumo-master", "x-api-key",
        "cookie", "set-cookie",
    ]
}
