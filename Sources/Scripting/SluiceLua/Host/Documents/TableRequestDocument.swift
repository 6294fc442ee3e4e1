package import SluiceCore

/// A request to a server's table, as plugins around it see it.
package struct TableQuestion: Sendable {
    package var table: String
    /// The action of the request.
    package var kind: SyncRequest.Context.Action
    /// The user, with the claims of their token; nil without a user.
    package var user: String?
    package var claims: JSON?
    /// The id of the record; nil for a list.
    package var recordID: RecordID?
    /// The query of a list.
    package var query: TableQuery?
    /// The stored record.
    package var stored: JSON?
    /// Whether an update replaces all properties.
    package var replaces = false
    /// Whether it was carried out before, and its answer is repeated.
    package var isRepeated = false
    /// The record in the request.
    package var record: JSON?
    /// A condition that hides records from the request.
    package var filter: QueryExpression?

    package init(table: String, kind: SyncRequest.Context.Action) {
        self.table = table
        self.kind = kind
    }

    /// The hook for the request.
    package var hook: HookKind {
        switch kind {
        case .insert: .insert
        case .update, .undelete: .update
        case .delete: .delete
        case .read, .lookup, .custom: .read
        }
    }
}

/// A script's changes of a request, at its call of `next`.
package struct TableRequestEdit: Sendable {
    /// The changed record; nil if there is none or it is unchanged.
    package var record: JSON?
    /// The condition that the script adds.
    package var filter: QueryExpression?
}

/// A request to a server's table as scripts see it, `req`, and their changes of it.
package struct TableRequestDocument: Sendable {
    /// The maximum size of a record in bytes, the same as for a request's body.
    private static let maximumBytes = 4 << 20

    let question: TableQuestion
    let check: RecordCheck

    package init(_ question: TableQuestion, _ check: RecordCheck) {
        self.question = question
        self.check = check
    }

    /// The request as a document for the script.
    package var json: JSON {
        var document = JSON(members: [
            ("table", JSON(question.table)), ("kind", JSON(question.kind.rawValue)),
            ("replaces", JSON(question.replaces)), ("repeated", JSON(question.isRepeated)),
        ])
        if let id = question.recordID { document["id"] = JSON(id) }
        if let user = question.user { document["user"] = JSON(user) }
        if let claims = question.claims { document["claims"] = claims }
        if let stored = question.stored { document["stored"] = stored }
        if let record = question.record { document["record"] = record }
        if let query = question.query { document["query"] = Self.document(of: query) }
        return document
    }

    private static func document(of query: TableQuery) -> JSON {
        var document: JSON = ["skip": JSON(query.skip), "includes_deleted": JSON(query.includesDeleted)]
        if let filter = query.filter { document["filter"] = JSON(filter.odata(.v4)) }
        if let top = query.top { document["top"] = JSON(top) }
        if !query.select.isEmpty { document["select"] = JSON(query.select.map { JSON($0) }) }
        return document
    }

    /// Returns the script's changes of the request, at its call of `next`.
    ///
    /// - Throws: ``ScriptFailure`` for a record that may not replace the request's, and for an invalid filter.
    func edit(_ document: JSON) throws -> TableRequestEdit {
        var edit = TableRequestEdit()
        if let filter = document["filter"], !filter.isNull {
            guard let text = filter.string else { throw ScriptFailure(.badResult, "req.filter is a text") }
            do {
                edit.filter = try QueryExpression(odata: text)
            } catch {
                throw ScriptFailure(.badResult, "req.filter is no filter of OData: \(error)")
            }
        }
        guard let original = question.record, let record = document["record"], record != original else { return edit }
        let id = original["id"]?.textID ?? question.recordID ?? .string("")
        let checked = try check.checked(record, from: [original, question.stored], id: id)
        guard checked.bytes().count <= Self.maximumBytes else {
            throw ScriptFailure(.badResult, "the record is over \(Self.maximumBytes) bytes")
        }
        edit.record = checked
        return edit
    }
}
