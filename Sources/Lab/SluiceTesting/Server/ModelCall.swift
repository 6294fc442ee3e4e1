internal import HTTPTypes
internal import SluiceCore

/// A request as the model server reads it.
struct ModelCall {
    let method: HTTPRequest.Method
    let table: String?
    var id: RecordID?
    /// The query's parameters, with names in lower case and values decoded.
    let parameters: [String: String]
    let ifMatch: String?
    /// Whether the request asks for change tokens.
    let tracksChanges: Bool
    /// The id that marks a repeated request (OASIS Repeatable Requests 1.0).
    let repeatability: String?
    let body: JSON

    private static let prefer = HTTPField.Name("Prefer")
    static let requestID = HTTPField.Name("Repeatability-Request-ID")

    init(_ request: SyncRequest) {
        method = request.head.method
        let parts = Self.split(request.head.path ?? "", "?", most: 1)
        let segments = parts.first.map { Self.split($0, "/").map { Self.decode($0) } } ?? []
        let isTable = segments.count >= 2 && segments.count <= 3 && segments[0] == "tables"
        table = isTable ? segments[1] : nil
        id = isTable && segments.count == 3 ? .string(segments[2]) : nil
        var parameters: [String: String] = [:]
        for pair in parts.count > 1 ? Self.split(parts[1], "&") : [] {
            let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            parameters[Self.decode(pair[..<equals]).lowercased()] = Self.decode(pair[equals...].dropFirst())
        }
        self.parameters = parameters
        tracksChanges = Self.prefer.flatMap { request.head.headerFields[$0] } == "odata.track-changes"
        ifMatch = request.head.headerFields[.ifMatch].map { $0.filter { $0 != "\"" } }
        repeatability = Self.requestID.flatMap { request.head.headerFields[$0] }
        body = (try? request.body.json) ?? .object
    }

    /// Returns the query of a list; `parse` reads the filter.
    func query(_ parse: (String) throws -> QueryExpression = { try QueryExpression(odata: $0) }) throws -> TableQuery {
        var query = TableQuery("")
        if let filter = parameters["$filter"], !filter.isEmpty { query.filter = try parse(filter) }
        query.order = Self.split(parameters["$orderby"] ?? "", ",").map { key in
            let words = Self.split(key, " ")
            return .init(PropertyName(String(words[0])), descending: words.count > 1 && words[1] == "desc")
        }
        query.skip = parameters["$skip"].flatMap { Int($0) } ?? 0
        query.top = parameters["$top"].flatMap { Int($0) }
        return query
    }

    /// Splits by bytes, because a simulation splits hundreds of thousands of texts in a second.
    private static func split(_ text: some StringProtocol, _ mark: Unicode.Scalar, most: Int = .max) -> [Substring] {
        let text = Substring(text)
        return text.utf8.split(separator: UInt8(ascii: mark), maxSplits: most).map { Substring($0) }
    }

    static func decode(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
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

extension SyncResponse {
    /// Returns an answer of the model server.
    static func model(_ status: Int, _ body: JSON?, version: String? = nil) -> SyncResponse {
        var fields = HTTPFields()
        fields[.contentType] = "application/json"
        if let version { fields[.eTag] = "\"\(version)\"" }
        return SyncResponse(
            HTTPResponse(status: .init(code: status), headerFields: fields),
            body: body.map { MessageBody(json: $0) } ?? .empty)
    }

    /// Returns the answer with a header field that the request's id was honoured, if the request has one.
    func accepted(_ request: SyncRequest) -> SyncResponse {
        guard let id = ModelCall.requestID, request.head.headerFields[id] != nil,
            let result = HTTPField.Name("Repeatability-Result")
        else { return self }
        var response = self
        response.head.headerFields[result] = "accepted"
        return response
    }
}

/// The date of an HTTP header (RFC 9110, section 5.6.7).
enum ModelDate {
    static func text(_ time: Timestamp) -> String {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let day = time.ticks / (86_400 * Timestamp.ticksPerSecond)
        let iso = time.text(fractionDigits: 0)
        let parts = iso.dropLast().split(separator: "T")
        let date = parts[0].split(separator: "-")
        return
            "\(days[Int((day % 7 + 7) % 7)]), \(date[2]) \(months[(Int(date[1]) ?? 1) - 1]) \(date[0]) \(parts[1]) GMT"
    }
}
