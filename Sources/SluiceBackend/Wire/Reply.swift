internal import HTTPTypes
internal import SluiceCore

/// An answer in the making.
struct Reply: Sendable {
    static let serverVersion = HTTPField.Name("x-zumo-server-version")

    var status: HTTPResponse.Status
    var headers: HTTPFields = [:]
    var body: JSON?

    init(_ status: HTTPResponse.Status, body: JSON? = nil) {
        self.status = status
        self.body = body
    }

    /// Adds the version of a stored record as `ETag` and its time, in whole seconds, as `Last-Modified`.
    mutating func tag(_ stored: JSON) {
        if let version = stored[SystemColumn.version]?.string { headers[.eTag] = ETag.quoted(version) }
        if let time = stored[SystemColumn.updatedAt]?.string.flatMap({ Timestamp($0) }) {
            headers[.lastModified] = HTTPDate.text(time)
        }
    }

    /// The answer with the headers that every answer has.
    var response: Response { response(body.map { Body(json: $0) } ?? .empty, type: "application/json; charset=utf-8") }

    /// The answer with another body in the place of its own.
    func response(_ body: Body, type: String) -> Response {
        var headers = headers
        headers[.cacheControl] = "no-cache"
        if let name = Self.serverVersion { headers[name] = "sluice-\(SluiceVersion.text)" }
        if !body.isEmpty { headers[.contentType] = type }
        return Response(HTTPResponse(status: status, headerFields: headers), body: body)
    }
}
