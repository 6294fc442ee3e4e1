internal import HTTPTypes
internal import SluiceCore

/// A batch as the model server reads it (OData JSON Format 4.01, section 19).
struct ModelBatch {
    struct Part {
        var id: String
        var group: String?
        var dependsOn: [String]
        var request: SyncRequest
    }

    let parts: [Part]

    init(parts: [Part]) { self.parts = parts }

    static func isBatch(_ request: SyncRequest) -> Bool {
        request.head.method == .post && (request.head.path ?? "").split(separator: "?").first == "/tables/$batch"
    }

    init?(_ request: SyncRequest) {
        guard let elements = (try? request.body.json)?["requests"]?.elements, elements.count <= 100 else { return nil }
        var parts: [Part] = []
        for element in elements {
            guard let id = element["id"]?.string, let url = element["url"]?.string,
                let method = element["method"]?.string.flatMap({ HTTPRequest.Method($0) })
            else { return nil }
            var head = HTTPRequest(method: method, scheme: nil, authority: nil, path: "/\(url)")
            for (name, value) in element["headers"]?.members ?? [] {
                if let name = HTTPField.Name(name.text), let value = value.string { head.headerFields[name] = value }
            }
            parts.append(
                Part(
                    id: id, group: element["atomicityGroup"]?.string,
                    dependsOn: (element["dependsOn"]?.elements ?? []).compactMap(\.string),
                    request: SyncRequest(head, body: element["body"].map { MessageBody(json: $0) } ?? .empty)))
        }
        self.parts = parts
    }

    static func answer(_ answers: [(id: String, response: SyncResponse)]) -> SyncResponse {
        let responses = answers.map { id, response in
            var answer: JSON = ["id": JSON(id), "status": JSON(response.status)]
            answer["headers"] = JSON(
                members: response.head.headerFields.map { (name: $0.name.canonicalName, value: JSON($0.value)) })
            if !response.body.isEmpty, let body = try? response.body.json { answer["body"] = body }
            return answer
        }
        return .model(200, ["responses": JSON(responses)])
    }
}

/// The answers to the requests that had an effect, by their request ids.
struct ModelMemory {
    private var effects: [String: (asked: String, response: SyncResponse)] = [:]

    /// Returns the answer to an earlier request with that id; 400 if the earlier one was a different request.
    func answer(to request: SyncRequest) -> SyncResponse? {
        guard let id = ModelCall.requestID.flatMap({ request.head.headerFields[$0] }), let known = effects[id] else {
            return nil
        }
        return known.asked == Self.text(request) ? known.response : .model(400, ["error": "the id was used before"])
    }

    mutating func remember(_ response: SyncResponse, to request: SyncRequest) {
        guard let id = ModelCall.requestID.flatMap({ request.head.headerFields[$0] }), response.status < 300 else {
            return
        }
        effects[id] = (Self.text(request), response)
    }

    private static func text(_ request: SyncRequest) -> String {
        let body = (try? request.body.json.bytes()) ?? request.body.bytes
        return "\(request.head.method) \(request.head.path ?? "") \(request.head.headerFields[.ifMatch] ?? "") "
            + String(decoding: body, as: UTF8.self)
    }
}
