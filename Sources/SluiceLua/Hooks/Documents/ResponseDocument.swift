internal import HTTPTypes
internal import SluiceCore

/// An answer as scripts see it, and back.
enum ResponseDocument {
    /// The document of an answer whose body has that place among the call's bodies.
    static func document(
        of response: Response, body slot: Int, elapsed: Duration?, hiding isHidden: (HTTPField) -> Bool
    ) -> JSON {
        var document = JSON(members: [
            ("status", JSON(response.status)),
            ("headers", RequestDocument.headers(response.head.headerFields.filter { !isHidden($0) })),
            ("body", JSON(members: [("slot", JSON(slot))])),
        ])
        if let elapsed { document["elapsed"] = JSON(elapsed / .seconds(1)) }
        return document
    }

    /// The answer as the document says.
    static func response(
        _ document: JSON, from original: Response, bodies: [Body], hiding isHidden: (HTTPField) -> Bool
    ) throws -> Response {
        var response = original
        let status = document["status"]?.int ?? 0
        if status != Int64(original.status) { response.head.status = try self.status(status) }
        let list = document["headers"] ?? .array
        if list != RequestDocument.headers(original.head.headerFields.filter { !isHidden($0) }) {
            var fields = try self.fields(list)
            for field in original.head.headerFields where isHidden(field) && fields[field.name] == nil {
                fields.append(field)
            }
            response.head.headerFields = fields
        }
        if let slot = document["body"]?["slot"]?.int, bodies.indices.contains(Int(slot)) {
            response.body = bodies[Int(slot)]
        }
        return response
    }

    /// The answer that `decide.respond{status=, headers=, body=, json=}` makes.
    static func response(_ decision: JSON) throws -> Response {
        var response = Response(HTTPResponse(status: try status(decision["status"]?.int ?? 0)))
        if let json = decision["json"] {
            response.body = Body(json: json)
            response.head.headerFields[.contentType] = "application/json"
        } else if let text = decision["body"], !text.isNull {
            guard let text = text.string else { throw ScriptFailure(.badResult, "respond's body is a text") }
            response.body = Body(bytes: Array(text.utf8))
        }
        switch decision["headers"] {
        case nil: break
        case let headers? where headers.kind == .array:
            for field in try fields(headers) { response.head.headerFields.append(field) }
        case let headers?:
            for (name, value) in headers.members ?? [] {
                let field = try RequestEditor.field(name, value.string ?? value.description)
                response.head.headerFields[field.name] = field.value
            }
        }
        return response
    }

    private static func fields(_ list: JSON) throws -> HTTPFields {
        var fields = HTTPFields()
        for entry in list.elements ?? [] {
            fields.append(try RequestEditor.field(entry[0]?.string ?? "", entry[1]?.string ?? ""))
        }
        return fields
    }

    private static func status(_ status: Int64) throws -> HTTPResponse.Status {
        guard (200...599).contains(status) else {
            throw ScriptFailure(.badResult, "a status is a number from 200 to 599")
        }
        return HTTPResponse.Status(code: Int(status))
    }
}
