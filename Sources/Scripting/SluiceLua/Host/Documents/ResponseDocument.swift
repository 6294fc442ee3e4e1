internal import HTTPTypes
internal import SluiceCore

/// Creates answers from scripts.
enum ResponseDocument {
    /// Returns the answer of `decide.respond{status=, headers=, body=, json=}`.
    ///
    /// - Throws: ``Denied`` if the plugin may not answer the request.
    static func response(_ decision: JSON, by editor: RequestEditor?) throws -> SyncResponse {
        try editor?.requireAnswer()
        var response = SyncResponse(HTTPResponse(status: try status(decision["status"]?.int ?? 0)))
        if let json = decision["json"] {
            response.body = MessageBody(json: json)
            response.head.headerFields[.contentType] = "application/json"
        } else if let text = decision["body"], !text.isNull {
            guard let text = text.string else { throw ScriptFailure(.badResult, "respond's body is a text") }
            response.body = MessageBody(bytes: Array(text.utf8))
        }
        switch decision["headers"] {
        case nil: break
        case let headers? where headers.kind == .array:
            for field in try fields(headers) { response.head.headerFields.append(field) }
        case let headers?:
            for (name, value) in headers.members ?? [] {
                guard let text = value.text else {
                    throw ScriptFailure(.badResult, "respond: the header \(name) is a text")
                }
                let field = try RequestEditor.field(name.text, text)
                response.head.headerFields[field.name] = field.value
            }
        }
        return editor?.signed(response) ?? response
    }

    /// Returns fields from `[[name, value]]`.
    static func fields(_ list: JSON) throws -> HTTPFields {
        var fields = HTTPFields()
        for entry in list.elements ?? [] {
            fields.append(try RequestEditor.field(entry[0]?.string ?? "", entry[1]?.string ?? ""))
        }
        return fields
    }

    static func status(_ status: Int64) throws -> HTTPResponse.Status {
        guard (200...599).contains(status) else {
            throw ScriptFailure(.badResult, "a status is a number from 200 to 599")
        }
        return HTTPResponse.Status(code: Int(status))
    }
}
