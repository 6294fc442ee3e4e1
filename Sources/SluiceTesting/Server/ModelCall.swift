internal import HTTPTypes
internal import SluiceCore

/// A request as the model server reads it.
struct ModelCall {
    let method: HTTPRequest.Method
    let table: String?
    let id: String?
    /// The query's parameters, names in lower case, values decoded.
    let parameters: [String: String]
    let ifMatch: String?
    /// Whether the request asks for change tokens.
    let tracksChanges: Bool
    /// The id by which a repeated request is known again (OASIS Repeatable Requests 1.0).
    let repeatability: String?
    let body: JSON

    init(_ request: Request) {
        method = request.head.method
        let parts = (request.head.path ?? "").split(separator: "?", maxSplits: 1)
        let segments = (parts.first ?? "").split(separator: "/").map { Self.decode($0) }
        let isTable = segments.count >= 2 && segments.count <= 3 && segments[0] == "tables"
        table = isTable ? segments[1] : nil
        id = isTable && segments.count == 3 ? segments[2] : nil
        var parameters: [String: String] = [:]
        for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            parameters[Self.decode(sides[0]).lowercased()] = sides.count > 1 ? Self.decode(sides[1]) : ""
        }
        self.parameters = parameters
        tracksChanges =
            HTTPField.Name("Prefer").flatMap { request.head.headerFields[$0] } == "odata.track-changes"
        ifMatch = request.head.headerFields[.ifMatch].map { $0.filter { $0 != "\"" } }
        repeatability = HTTPField.Name("Repeatability-Request-ID").flatMap { request.head.headerFields[$0] }
        body = (try? request.body.json) ?? .object
    }

    func query() throws -> Query {
        var query = Query("")
        if let filter = parameters["$filter"], !filter.isEmpty { query.filter = try QueryExpression(odata: filter) }
        query.order = (parameters["$orderby"] ?? "").split(separator: ",").map { key in
            let words = key.split(separator: " ")
            return .init(String(words[0]), descending: words.count > 1 && words[1] == "desc")
        }
        query.skip = parameters["$skip"].flatMap { Int($0) } ?? 0
        query.top = parameters["$top"].flatMap { Int($0) }
        return query
    }

    private static func decode(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Response {
    /// An answer of the model server.
    static func model(_ status: Int, _ body: JSON?, version: String? = nil) -> Response {
        var fields = HTTPFields()
        fields[.contentType] = "application/json"
        if let version { fields[.eTag] = "\"\(version)\"" }
        return Response(
            HTTPResponse(status: .init(code: status), headerFields: fields),
            body: body.map { Body(json: $0) } ?? .empty)
    }
}
