internal import HTTPTypes
internal import SluiceCore
internal import SluiceOData

/// Writes the answers to the requests of a batch.
struct BatchWriter {
    let call: ServiceCall

    // MARK: multipart/mixed

    func multipart(_ answers: [BatchRoutes.Answer]) -> ODataReply {
        let messages = answers.map { $0.replies.map(message) }
        func writer(_ kind: String) -> MultipartWriter {
            MultipartWriter(of: messages.joined()) { "\(kind)_\(call.served.environment.makeID())" }
        }
        var batch = writer("batch")
        for (answer, messages) in zip(answers, messages) {
            guard answer.items.first?.group != nil, !answer.isFailedGroup else {
                // A failed change set has a single answer, not one for each request.
                batch.add(messages[0], id: answer.isFailedGroup ? nil : answer.items[0].id)
                continue
            }
            var set = writer("changeset")
            for (item, message) in zip(answer.items, messages) { set.add(message, id: item.id) }
            let body = set.body
            batch.add([("Content-Type", set.type), ("Content-Length", "\(body.count)")], body)
        }
        return ODataReply(call.version == .v2 ? .accepted : .ok, .bytes(batch.body), type: batch.type)
    }

    private func message(_ reply: ODataReply) -> [UInt8] {
        let response = reply.response(call.version)
        let status = response.head.status
        return MultipartWriter.message(
            "HTTP/1.1 \(status.code) \(status.reasonPhrase.isEmpty ? "Refused" : status.reasonPhrase)",
            response.head.headerFields.filter { $0.name != .cacheControl }, response.body.bytes)
    }

    // MARK: JSON

    func json(_ answers: [BatchRoutes.Answer]) -> ODataReply {
        var responses: [JSON] = []
        for answer in answers {
            for (index, item) in answer.items.enumerated() {
                // The reason of a failed change set is repeated for each of its requests.
                let reply = answer.isFailedGroup ? answer.replies[0] : answer.replies[index]
                responses.append(response(item, reply))
            }
        }
        return ODataReply(.ok, .json(["responses": JSON(responses)]), type: "application/json")
    }

    private func response(_ item: BatchItem, _ reply: ODataReply) -> JSON {
        let response = reply.response(call.version)
        let bytes = response.body.bytes
        var body = bytes.isEmpty ? nil : JSON(String(decoding: bytes, as: UTF8.self))
        if case .json(let document) = reply.content { body = document }
        return BatchDocument.answer(
            item.id ?? "", group: item.group, response.status,
            fields: response.head.headerFields.filter { $0.name != .cacheControl }, body: body)
    }
}
