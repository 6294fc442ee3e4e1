internal import HTTPTypes
internal import SluiceCore

/// A server that takes every insert, alone and in batches, and answers at once with a version and the times.
struct AcceptingTransport: Transport {
    func send(_ request: SyncRequest) async throws -> SyncResponse {
        let document = try request.body.json
        guard let parts = document["requests"]?.elements else { return response(201, Self.stored(document)) }
        let answers = parts.map { part -> JSON in
            [
                "id": part["id"] ?? .null, "status": 201, "headers": ["content-type": "application/json"],
                "body": Self.stored(part["body"] ?? .object),
            ]
        }
        return response(200, ["responses": JSON(answers)])
    }

    private static func stored(_ record: JSON) -> JSON {
        var stored = record
        stored["createdAt"] = "2026-11-24T10:00:00.000Z"
        stored["updatedAt"] = "2026-11-24T10:00:00.000Z"
        stored["version"] = "AAAAAAAAB9E="
        stored["deleted"] = false
        return stored
    }

    private func response(_ status: Int, _ document: JSON) -> SyncResponse {
        var head = HTTPResponse(status: .init(code: status))
        head.headerFields[.contentType] = "application/json"
        if let name = HTTPField.Name("X-Sluice-Batch") { head.headerFields[name] = "100" }
        return SyncResponse(head, body: MessageBody(json: document))
    }
}
