package import HTTPTypes
internal import SluiceCore

/// A request as scripts see it.
package enum RequestDocument {
    /// The document of a request with those of its fields.
    static func document(of request: Request, fields: [HTTPField]) -> JSON {
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

    /// The operation's own id: that of its request has the revision after it.
    private static func operation(ofRequest id: String) -> String {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count > 1, let revision = parts.last, Int(revision) != nil else { return id }
        return parts.dropLast().joined(separator: "-")
    }

    package static func url(of head: HTTPRequest) -> String {
        "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "/")"
    }

    /// The call's own body, the first of its bodies.
    private static let bodyOfCall: JSON = ["slot": 0]
}
