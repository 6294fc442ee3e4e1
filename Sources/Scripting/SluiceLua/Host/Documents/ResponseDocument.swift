package import HTTPTypes
package import SluiceCore

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

/// An answer, and its document for the script.
package struct GivenResponse: Sendable {
    let response: SyncResponse
    package let document: JSON

    /// - Parameters:
    ///   - slot: the index of its body among the call's bodies.
    ///   - request: the request that it answers, for hooks that see it.
    ///   - isHidden: whether a field is hidden from the script.
    package init(
        _ response: SyncResponse, body slot: Int, elapsed: Duration, request: JSON? = nil,
        hiding isHidden: (HTTPField) -> Bool
    ) {
        self.response = response
        let document = DocumentWriter()
        document.set("status", response.status)
        document.set("headers", response.head.headerFields.filter { !isHidden($0) })
        let body = DocumentWriter()
        body.set("slot", slot)
        document.set("body", body.finish())
        document.set("elapsed", elapsed / .seconds(1))
        if let request { document.set("request", request) }
        self.document = document.finish()
    }

    /// Returns the answer with the script's changes to the document; nil if the document is unchanged.
    ///
    /// - Throws: ``ScriptFailure`` for values that an answer cannot have; ``Denied`` if the plugin may not rewrite the
    ///   answer.
    func edited(_ document: JSON, _ result: HookReturn, by editor: RequestEditor?) throws -> SyncResponse? {
        var edited = response
        var isChanged = false
        if document.hasOther("status", than: self.document) {
            edited.head.status = try ResponseDocument.status(document["status"]?.int ?? 0)
            isChanged = true
        }
        if document.hasOther("headers", than: self.document) {
            var fields = try ResponseDocument.fields(document["headers"] ?? .array)
            for field in response.head.headerFields
            where editor?.isHidden(field) ?? true && fields[field.name] == nil {
                fields.append(field)
            }
            edited.head.headerFields = fields
            isChanged = true
        }
        if let slot = document["body"]?["slot"]?.int.map({ Int(clamping: $0) }), result.bodies.indices.contains(slot),
            result.changedBodies.contains(slot)
        {
            edited.body = result.bodies[slot]
            isChanged = true
        }
        guard isChanged else { return nil }
        try editor?.requireAnswer()
        return editor?.signed(edited) ?? edited
    }
}
