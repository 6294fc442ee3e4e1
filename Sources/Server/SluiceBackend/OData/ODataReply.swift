internal import HTTPTypes
internal import SluiceCore

/// An answer of an OData service under construction.
struct ODataReply: Sendable {
    enum Content: Sendable {
        case nothing
        case json(JSON)
        case text(String)
        case bytes([UInt8])
    }

    var status: HTTPResponse.Status
    var headers: HTTPFields = [:]
    var content = Content.nothing

    init(_ status: HTTPResponse.Status, _ content: Content = .nothing, type: String? = nil) {
        self.status = status
        self.content = content
        if let type { headers[.contentType] = type }
    }

    /// Returns the response in a version.
    ///
    /// - Parameter isV1: whether the client knows version 1 at most; its forms are the same as v2's here.
    func response(_ version: ServiceVersion, isV1: Bool = false) -> SyncResponse {
        var headers = headers
        headers[.cacheControl] = "no-cache"
        if let name = HTTPField.Name(version.header.name) { headers[name] = isV1 ? "1.0" : version.header.value }
        let body: MessageBody =
            switch content {
            case .nothing: .empty
            case .json(let json): MessageBody(json: json)
            case .text(let text): MessageBody(bytes: Array(text.utf8))
            case .bytes(let bytes): MessageBody(bytes: bytes)
            }
        return SyncResponse(HTTPResponse(status: status, headerFields: headers), body: body)
    }

    mutating func applied(_ preference: String) {
        guard let name = HTTPField.Name("Preference-Applied") else { return }
        headers[name] = headers[name].map { "\($0), \(preference)" } ?? preference
    }
}

extension ODataReply {
    /// Creates the answer for a refusal in the version's form: in XML for clients that accept only that.
    init(_ refusal: Refusal, _ version: ServiceVersion, _ head: HTTPRequest, _ target: RequestTarget) {
        self.init(refusal.status)
        headers = refusal.headers
        // A refusal's answer shows no entity, so it has no tag.
        headers[.eTag] = nil
        let reason: String
        switch refusal.content {
        case .nothing: return
        case .record:
            reason =
                refusal.status == .conflict
                ? "an entity with this key exists already"
                : "the entity has been changed since the version that If-Match names; read it again"
        case .reason(let text): reason = text
        }
        let code = String(refusal.status.code)
        let format = AnswerFormat(head.headerFields, target, among: [.json, .xml, .atom])
        if let format, format.media != .json {
            var xml = XMLWriter()
            let namespace =
                version == .v2
                ? "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
                : "http://docs.oasis-open.org/odata/ns/metadata"
            xml.element("error", ["xmlns": namespace]) { xml in
                xml.element("code", text: code)
                xml.element("message", version == .v2 ? ["xml:lang": "en"] : [:], text: reason)
            }
            headers[.contentType] = "application/xml"
            content = .text(xml.text)
            return
        }
        headers[.contentType] = "application/json"
        guard version == .v2 else {
            content = .json(["error": ["code": JSON(code), "message": JSON(reason)]])
            return
        }
        let details: JSON = [["code": JSON(code), "message": JSON(reason), "severity": "error"]]
        content = .json([
            "error": [
                "code": JSON(code), "message": ["lang": "en", "value": JSON(reason)],
                "innererror": ["errordetails": details],
            ]
        ])
    }
}
