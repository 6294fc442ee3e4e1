internal import HTTPTypes
internal import SluiceCore

/// The body of a changing request, read strictly.
enum RequestBody {
    /// The object of the body.
    ///
    /// - Throws: ``Refusal``: 400 with the place where it is not JSON, 415 where the wire wants it declared as JSON.
    static func object(of request: Request, _ wire: ServerWire) throws -> JSON {
        let json = try document(of: request, wire)
        guard json.kind == .object else { throw Refusal(.badRequest, "the body is no JSON object") }
        return json
    }

    /// The document of the body.
    static func document(of request: Request, _ wire: ServerWire) throws -> JSON {
        if request.body.isEmpty {
            throw Refusal(.badRequest, "the request has no body; send the record as a JSON object")
        }
        if wire.requiresContentType, !isJSON(request.head.headerFields[.contentType]) {
            throw Refusal(.unsupportedMediaType, "the body must be declared as application/json")
        }
        do {
            return try request.body.json
        } catch {
            throw Refusal(.badRequest, error.description)
        }
    }

    /// Whether the media type of a body is JSON's, or one that is written in JSON.
    private static func isJSON(_ field: String?) -> Bool {
        let type = (field ?? "").prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        return type == "application/json" || (type.hasPrefix("application/") && type.hasSuffix("+json"))
    }

    /// Refuses an id that no client of the family may use.
    static func check(id: RecordID, table: String) throws {
        do {
            try IDRules.validate(id: id, table: table, isNew: true)
        } catch {
            throw Refusal(.badRequest, error.message)
        }
    }
}
