internal import HTTPTypes
internal import SluiceCore

extension SyncResponse {
    /// Returns the answer with an error in it, and with only the first half of its rows or properties, as from a server
    /// that failed after it had begun to answer. An answer that is not a JSON object stays unchanged.
    func withErrorBesideRows() -> SyncResponse {
        guard var body = try? body.json, body.kind == .object else { return self }
        if let rows = body["items"]?.elements {
            body["items"] = Self.half(rows)
        } else if let rows = body["value"]?.elements {
            body["value"] = Self.half(rows)
        } else if let rows = body["d"]?["results"]?.elements {
            body["d"] = ["results": Self.half(rows)]
        } else if let row = body["d"] {
            body["d"] = Self.half(row)
        } else {
            body = Self.half(body)
        }
        body["error"] = ["code": "500", "message": "a timeout in the database"]
        var response = self
        response.head.headerFields[.eTag] = nil
        response.body = MessageBody(json: body)
        return response
    }

    private static func half(_ rows: [JSON]) -> JSON { JSON(Array(rows.prefix(rows.count / 2))) }

    /// Returns some properties of a row, without those that mark it as a row.
    private static func half(_ row: JSON) -> JSON {
        let telling: Set<PropertyName> = ["id", "Key", "version", "__version", "__metadata", "digest"]
        let members = (row.members ?? []).filter { !telling.contains($0.name) && !$0.name.text.hasPrefix("@") }
        return JSON(members: members.prefix(members.count / 2).map { ($0.name, $0.value) })
    }
}
