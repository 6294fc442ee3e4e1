internal import HTTPTypes
internal import SluiceCore

/// An answer in the making.
struct Reply: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields = [:]
    var body: JSON?

    init(_ status: HTTPResponse.Status, body: JSON? = nil) {
        self.status = status
        self.body = body
    }

    /// An answer that says why a request is refused, as `{"error": reason}`.
    static func failure(_ status: HTTPResponse.Status, _ reason: String) -> Reply {
        Reply(status, body: ["error": JSON(reason)])
    }

    /// The answer with the headers that every answer has.
    var response: Response {
        var headers = headers
        headers[.cacheControl] = "no-cache"
        if let name = HTTPField.Name("x-zumo-server-version") { headers[name] = "sluice-1.0" }
        if body != nil { headers[.contentType] = "application/json; charset=utf-8" }
        return Response(
            HTTPResponse(status: status, headerFields: headers), body: body.map { Body(json: $0) } ?? .empty)
    }
}

/// Why a request is refused; thrown out of a transaction it leaves nothing behind.
struct Refusal: Error {
    var reply: Reply

    init(_ status: HTTPResponse.Status, _ reason: String) { reply = .failure(status, reason) }

    init(_ reply: Reply) { self.reply = reply }
}
