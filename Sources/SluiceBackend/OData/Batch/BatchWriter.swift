internal import HTTPTypes
internal import SluiceCore

/// Writes the answers to the requests of a batch.
struct BatchWriter {
    let call: ServiceCall

    // MARK: multipart/mixed

    func multipart(_ answers: [BatchRoutes.Answer]) -> ODataReply {
        let boundary = Self.boundary("batch", call, answers)
        var bytes: [UInt8] = []
        for answer in answers {
            let isGroup = answer.items.first?.group != nil && !answer.isFailedGroup
            guard isGroup else {
                // A change set that failed is one answer, and about none of its requests alone.
                part(answer.isFailedGroup ? nil : answer.items[0].id, answer.replies[0], boundary, &bytes)
                continue
            }
            let inner = Self.boundary("changeset", call, answers)
            var changes: [UInt8] = []
            for (item, reply) in zip(answer.items, answer.replies) { part(item.id, reply, inner, &changes) }
            changes += "--\(inner)--\r\n".utf8
            bytes += "--\(boundary)\r\nContent-Type: multipart/mixed; boundary=\(inner)\r\n".utf8
            bytes += "Content-Length: \(changes.count)\r\n\r\n".utf8
            bytes += changes
            bytes += "\r\n".utf8
        }
        bytes += "--\(boundary)--\r\n".utf8
        return ODataReply(
            call.version == .v2 ? .accepted : .ok, .bytes(bytes), type: "multipart/mixed; boundary=\(boundary)")
    }

    private func part(_ id: String?, _ reply: ODataReply, _ boundary: String, _ bytes: inout [UInt8]) {
        var head = "--\(boundary)\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
        // What was taken from a header of the request may go back into one.
        if let id, HTTPField.isValidValue(id) { head += "Content-ID: \(id)\r\n" }
        let response = reply.response(call.version)
        let status = response.head.status
        head += "\r\nHTTP/1.1 \(status.code) \(status.reasonPhrase.isEmpty ? "Refused" : status.reasonPhrase)\r\n"
        for field in response.head.headerFields where field.name != .cacheControl {
            head += "\(field.name.rawName): \(field.value)\r\n"
        }
        let body = response.body.bytes
        head += "Content-Length: \(body.count)\r\n\r\n"
        bytes += head.utf8
        bytes += body
        bytes += "\r\n".utf8
    }

    /// A boundary that stands in none of the answers.
    private static func boundary(_ kind: String, _ call: ServiceCall, _ answers: [BatchRoutes.Answer]) -> String {
        let contents = answers.flatMap(\.replies).map { $0.response(call.version).body.bytes }
        while true {
            let boundary = "\(kind)_\(call.served.environment.makeID())"
            let line = Array("--\(boundary)".utf8)
            if !contents.contains(where: { $0.contains(line) }) { return boundary }
        }
    }

    // MARK: JSON

    func json(_ answers: [BatchRoutes.Answer]) -> ODataReply {
        var responses: [JSON] = []
        for answer in answers {
            for (index, item) in answer.items.enumerated() {
                // The one reason of a change set that failed stands with each of its requests.
                let reply = answer.isFailedGroup ? answer.replies[0] : answer.replies[index]
                responses.append(response(item, reply))
            }
        }
        return ODataReply(.ok, .json(["responses": JSON(responses)]), type: "application/json")
    }

    private func response(_ item: BatchItem, _ reply: ODataReply) -> JSON {
        let response = reply.response(call.version)
        var json: JSON = ["id": JSON(item.id ?? "")]
        if let group = item.group { json["atomicityGroup"] = JSON(group) }
        json["status"] = JSON(response.status)
        json["headers"] = JSON(
            members: response.head.headerFields.filter { $0.name != .cacheControl }
                .map { ($0.name.canonicalName, JSON($0.value)) })
        if case .json(let body) = reply.content {
            json["body"] = body
        } else if !response.body.isEmpty {
            json["body"] = JSON(String(decoding: response.body.bytes, as: UTF8.self))
        }
        return json
    }
}

extension ODataReply {
    /// How many bytes the body has.
    var size: Int { response(.v401).body.bytes.count }
}
