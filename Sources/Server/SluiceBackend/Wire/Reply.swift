internal import HTTPTypes
internal import SluiceCore

/// An answer under construction.
struct Reply: Sendable {
    static let serverVersion = HTTPField.Name("x-zumo-server-version")
    /// The header that offers `$batch`, with the most requests of one batch.
    static let batchOffer = HTTPField.Name("X-Sluice-Batch")

    var status: HTTPResponse.Status
    var headers: HTTPFields = [:]
    var body: JSON?
    /// The body as a JSON text, if it was never parsed into a document.
    var text: [UInt8]?

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

    /// The response with the headers of every answer.
    var response: SyncResponse {
        let body = text.map { MessageBody(bytes: $0) } ?? body.map { MessageBody(json: $0) }
        return response(body ?? .empty, type: "application/json; charset=utf-8")
    }

    /// Returns the response with another body instead of its own.
    func response(_ body: MessageBody, type: String) -> SyncResponse {
        var headers = headers
        headers[.cacheControl] = "no-cache"
        if let name = Self.serverVersion { headers[name] = "sluice-\(SluiceVersion.text)" }
        if let name = Self.batchOffer { headers[name] = String(BatchDocument.mostParts) }
        if !body.isEmpty { headers[.contentType] = type }
        return SyncResponse(HTTPResponse(status: status, headerFields: headers), body: body)
    }
}
