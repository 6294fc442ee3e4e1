internal import HTTPTypes
package import SluiceBase

/// What answers mean: pure functions from an answer to a record, rows or an error.
extension Dialect {
    /// The error that an answer's status stands for; nil for 2xx, and for 304 to a conditional lookup.
    ///
    /// The message is the server's own where it gave one (as ``ServerMessage`` finds it). A 409 or 412 carries the
    /// server's record where the body is one: an object with an id. A redirect is not followed, since it could
    /// lead credentials elsewhere.
    package func failure(_ response: Response, for context: RequestContext) -> SluiceError? {
        let code: SluiceError.Code
        switch response.status {
        case 206:
            return error(
                .brokenProtocol, "the server answered with a part of what was asked for, without being asked to",
                context, response)
        case 200...299: return nil
        case 304 where context.action == .lookup: return nil
        case 300...399:
            return error(.brokenProtocol, "the server answered with \(ServerMessage.redirect)", context, response)
        default:
            guard let known = SluiceError.Code(status: response.status) else {
                return error(
                    .brokenProtocol, "the server answered with a status that HTTP does not know", context, response)
            }
            code = known
        }
        var failure = error(code, ServerMessage.text(of: response), context, response)
        if code == .conflict || code == .preconditionFailed, let body = try? response.body.json,
            recordID(in: body) != nil
        {
            failure.serverRecord = body
        }
        return failure
    }

    /// The record of an answer to a lookup or a change; nil where the answer has none by right: 204, 304, and an
    /// empty answer to a delete.
    ///
    /// - Throws: ``SluiceError`` as ``failure(_:for:)``, and of code `brokenProtocol` for a body that is not a record:
    ///   not JSON, cut short, not an object, without an id that the wire
    ///   allows, or of another id than was asked for.
    package func record(in response: Response, for context: RequestContext) throws(SluiceError) -> JSON? {
        if let failure = failure(response, for: context) { throw failure }
        if response.status == 204 || response.status == 304 { return nil }
        if context.action == .delete && response.body.isEmpty { return nil }
        let record = try document(in: response, for: context)
        guard let id = recordID(in: record), !id.isEmpty else {
            throw error(.brokenProtocol, "the server's answer is not a record with an id", context, response)
        }
        // An adapter names a row as the service does whose key the service has assigned.
        let mayBeNamed = adapter != nil && context.action == .insert
        // An address does not tell a text from an integer.
        if let asked = context.recordID, !mayBeNamed, !RecordID(asked.text).isSame(as: RecordID(id.text)) {
            throw error(
                .brokenProtocol, "the server answered with another record than was asked for", context, response)
        }
        return record
    }

    /// The text of a record's id; nil where it has none that the wire allows.
    package func recordID(in record: JSON) -> RecordID? {
        if let id = record[columns.id]?.textID { return id }
        return allowsIntegerIDs ? record[columns.id]?.number?.int.map { .integer($0) } : nil
    }

    /// The rows of an answer to a list. Rows with integer ids are read for online requests on a wire that allows them,
    /// never into a store; rows without an id, as a projection leaves them, where `requiresIDs` is false. A
    /// body that no filter asked to see is read from its bytes. With `setsAside` a row that cannot be stored is told by
    /// the page's ``RowPage/problems`` and fails nothing.
    ///
    /// - Throws: ``SluiceError`` as ``failure(_:for:)``, and of code `brokenProtocol` for a body that is not a page.
    package func page(
        in response: Response, for context: RequestContext, requiresIDs: Bool = true, setsAside: Bool = false
    ) throws(SluiceError) -> RowPage {
        if let failure = failure(response, for: context) { throw failure }
        do throws(SluiceError) {
            return try RowPage(
                body: response.body, columns: columns, shape: shape, table: context.table,
                allowsIntegerIDs: allowsIntegerIDs && context.source == .online,
                requiresIDs: requiresIDs, setsAside: setsAside)
        } catch {
            var failure = response.credentials?.hiding(error) ?? error
            failure.status = response.status
            if ServerMessage.isWebPage(response) { failure.message = ServerMessage.webPage }
            if failure.code == .serverFailure { failure.message += " It says: \(ServerMessage.text(of: response))" }
            throw failure
        }
    }

    /// The body as a document.
    private func document(in response: Response, for context: RequestContext) throws(SluiceError) -> JSON {
        do throws(JSONParseError) {
            return try response.body.json
        } catch let cause {
            let code: SluiceError.Code = cause.isTooLarge ? .tooLarge : .brokenProtocol
            var failure = error(code, Self.notJSON(response), context, response)
            failure.cause = cause
            throw response.credentials?.hiding(failure) ?? failure
        }
    }

    private static func notJSON(_ response: Response) -> String {
        if response.body.isEmpty { return "the server's answer is empty where a record was due" }
        return ServerMessage.isWebPage(response)
            ? ServerMessage.webPage : "the server's answer is not JSON, or was cut short"
    }

    private func error(
        _ code: SluiceError.Code, _ message: String, _ context: RequestContext, _ response: Response
    ) -> SluiceError {
        SluiceError(
            code, message, table: context.table, recordID: context.recordID, operationID: context.operationID,
            status: response.status)
    }
}
