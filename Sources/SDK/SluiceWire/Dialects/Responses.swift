internal import HTTPTypes
package import SluiceBase

/// Interprets answers: pure functions from an answer to a record, rows or an error.
extension Dialect {
    /// Returns the error for an answer's status; nil for 2xx, and for 304 to a conditional lookup.
    ///
    /// The message is the server's own if it sent one (as ``ServerMessage`` finds it). A 409 or 412 carries the
    /// server's record if the body is one: an object with an id. A redirect is not followed, because it could lead
    /// credentials elsewhere.
    package func failure(_ response: SyncResponse, for context: SyncRequest.Context) -> SluiceError? {
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

    /// Returns the record of an answer to a lookup or a change. It is nil for answers that need none: 204, 304, and an
    /// empty answer to a delete.
    ///
    /// - Throws: ``SluiceError`` as ``failure(_:for:)``, and of code `brokenProtocol` for a body that is not a record:
    ///   not JSON, cut short, not an object, without an id that the wire allows, or with another id than the requested
    ///   one.
    package func record(in response: SyncResponse, for context: SyncRequest.Context) throws(SluiceError) -> JSON? {
        if let failure = failure(response, for: context) { throw failure }
        if response.status == 204 || response.status == 304 { return nil }
        if context.action == .delete && response.body.isEmpty { return nil }
        let record = try document(in: response, for: context)
        guard let id = recordID(in: record), !id.isEmpty else {
            throw error(.brokenProtocol, "the server's answer is not a record with an id", context, response)
        }
        // An adapter may return another id for a new row, because the service assigns its key.
        let mayBeNamed = adapter != nil && context.action == .insert
        // An address does not distinguish a text from an integer.
        if let asked = context.recordID, !mayBeNamed, !RecordID(asked.text).isSame(as: RecordID(id.text)) {
            throw error(
                .brokenProtocol, "the server answered with another record than was asked for", context, response)
        }
        return record
    }

    /// Returns the text of a record's id; nil where it has none that the wire allows.
    package func recordID(in record: JSON) -> RecordID? {
        if let id = record[columns.id]?.textID { return id }
        return allowsIntegerIDs ? record[columns.id]?.number?.int.map { .integer($0) } : nil
    }

    /// Returns the rows of an answer to a list. Rows with integer ids are read only for online requests on a wire that
    /// allows them, never into a store. Rows without an id, as in a projection, are read if `requiresIDs` is false. If
    /// no filter has parsed the body, it is read from its bytes. With `setsAside` a row that cannot be stored is
    /// reported in the page's ``RowPage/problems`` and causes no error.
    ///
    /// - Throws: ``SluiceError`` as ``failure(_:for:)``, and of code `brokenProtocol` for a body that is not a page.
    package func page(
        in response: SyncResponse, for context: SyncRequest.Context, requiresIDs: Bool = true, setsAside: Bool = false
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

    /// Returns the body as a document.
    private func document(in response: SyncResponse, for context: SyncRequest.Context) throws(SluiceError) -> JSON {
        do throws(JSON.ParseError) {
            return try response.body.json
        } catch let cause {
            let code: SluiceError.Code = cause.isTooLarge ? .tooLarge : .brokenProtocol
            var failure = error(code, Self.notJSON(response), context, response)
            failure.cause = cause
            throw response.credentials?.hiding(failure) ?? failure
        }
    }

    private static func notJSON(_ response: SyncResponse) -> String {
        if response.body.isEmpty { return "the server's answer is empty where a record was due" }
        return ServerMessage.isWebPage(response)
            ? ServerMessage.webPage : "the server's answer is not JSON, or was cut short"
    }

    private func error(
        _ code: SluiceError.Code, _ message: String, _ context: SyncRequest.Context, _ response: SyncResponse
    ) -> SluiceError {
        SluiceError(
            code, message, table: context.table, recordID: context.recordID, operationID: context.operationID,
            status: response.status)
    }
}
