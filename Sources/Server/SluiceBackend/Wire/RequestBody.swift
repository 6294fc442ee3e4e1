internal import HTTPTypes
internal import SluiceCore

/// The body of a changing request, read strictly.
enum RequestBody {
    /// The object of the body.
    ///
    /// - Throws: ``Refusal``: 400 with the place of an error in the JSON, 415 if the wire requires a JSON content type
    ///   and it is missing.
    static func object(of request: SyncRequest, _ wire: ServerWire) throws -> JSON {
        let json = try document(of: request, wire)
        guard json.kind == .object else { throw Refusal(.badRequest, "the body is no JSON object") }
        return json
    }

    /// The document of the body.
    static func document(of request: SyncRequest, _ wire: ServerWire) throws -> JSON {
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

    /// Whether a media type is JSON's, or of a format in JSON.
    private static func isJSON(_ field: String?) -> Bool {
        let type = (field ?? "").prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        return type == "application/json" || (type.hasPrefix("application/") && type.hasSuffix("+json"))
    }

    /// Refuses an id that is invalid in all generations.
    static func check(id: RecordID, table: String) throws {
        do {
            try IDRules.validate(id: id, table: table, isNew: true)
        } catch {
            throw Refusal(.badRequest, error.message)
        }
    }
}
