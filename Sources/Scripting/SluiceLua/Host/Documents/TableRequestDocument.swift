package import SluiceCore

/// A request to a server's table, as the plugins around it are asked about it.
package struct TableQuestion: Sendable {
    package var table: String
    /// What the request does.
    package var kind: RequestContext.Action
    /// Whom it comes from, and what is known of them; nil for nobody.
    package var user: String?
    package var claims: JSON?
    /// The record it is about; nil for a list.
    package var recordID: RecordID?
    /// A list's query.
    package var query: Query?
    /// The record as it is stored.
    package var stored: JSON?
    /// Whether an update replaces all properties.
    package var replaces = false
    /// Whether it was carried out before, and is answered once more.
    package var isRepeated = false
    /// What it says of the record.
    package var record: JSON?
    /// What takes records away from it.
    package var filter: QueryExpression?

    package init(table: String, kind: RequestContext.Action) {
        self.table = table
        self.kind = kind
    }

    /// The hook that is asked.
    package var hook: HookKind {
        switch kind {
        case .insert: .insert
        case .update, .undelete: .update
        case .delete: .delete
        case .read, .lookup, .custom: .read
        }
    }
}

/// What a script has made of a request when it calls `next`.
package struct TableRequestEdit: Sendable {
    /// The record; nil where there is none, or it is as it was.
    package var record: JSON?
    /// The condition that the script adds.
    package var filter: QueryExpression?
}

/// A request to a server's table as scripts see it, `req`, and what they make of it.
package struct TableRequestDocument: Sendable {
    /// The most bytes of a record, which are those of a request's body.
    private static let maximumBytes = 4 << 20

    let question: TableQuestion
    let check: RecordCheck

    package init(_ question: TableQuestion, _ check: RecordCheck) {
        self.question = question
        self.check = check
    }

    /// The document.
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

    private static func document(of query: Query) -> JSON {
        var document: JSON = ["skip": JSON(query.skip), "includes_deleted": JSON(query.includesDeleted)]
        if let filter = query.filter { document["filter"] = JSON(filter.odata(.v4)) }
        if let top = query.top { document["top"] = JSON(top) }
        if !query.select.isEmpty { document["select"] = JSON(query.select.map { JSON($0) }) }
        return document
    }

    /// The request as the script gives it to `next`.
    ///
    /// - Throws: ``ScriptFailure`` for a record that may not be in the place of the request's, and for a filter that is
    ///   none.
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
