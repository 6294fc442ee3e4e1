internal import HTTPTypes
internal import SluiceBase

/// Turns a record's version into the condition of its change, and the entity tag of an answer into the record's
/// version.
///
/// On the way down the version in the body, else in the context, becomes `If-Match` on PATCH, PUT, DELETE and
/// undelete, never on insert, and `If-None-Match` on a lookup. A version that is no string, or empty, does not count.
/// Nor does the version of a record with an integer id, because such tables have no versions. An existing condition
/// stays. On the way up a strong `ETag` is written into an answer that is one record without a version. The body's own
/// version wins, because a web server in front may have changed the tag (`"…-gzip"`). A weak tag is a hash of the
/// answer and no version.
struct LiftVersion: RequestTransform {
    let dialect: Dialect

    func request(_ request: SyncRequest) throws -> SyncRequest {
        guard request.context.table != nil else { return request }
        var request = request
        if let field = conditionField(request), request.head.headerFields[field] == nil, let version = version(request)
        {
            let value = dialect.versionsAreTags ? version : ETag.quoted(version)
            guard HTTPField.isValidValue(value) else {
                throw SluiceError(
                    .invalidRecord, "the record's version holds characters that a header field cannot",
                    table: request.context.table, recordID: request.context.recordID,
                    operationID: request.context.operationID)
            }
            request.head.headerFields[field] = value
        }
        return request
    }

    func response(_ response: SyncResponse, to request: SyncRequest) -> SyncResponse {
        request.context.table == nil ? response : tagged(response, for: request.context)
    }

    private func conditionField(_ request: SyncRequest) -> HTTPField.Name? {
        switch request.context.action {
        case .insert: nil
        case .undelete: .ifMatch
        case .lookup: request.head.method == .get ? .ifNoneMatch : nil
        default: [.patch, .put, .delete].contains(request.head.method) ? .ifMatch : nil
        }
    }

    private func version(_ request: SyncRequest) -> String? {
        if !request.body.isEmpty, let body = try? request.body.json {
            if body[dialect.columns.id]?.number != nil { return nil }
            if let version = body[dialect.columns.version]?.string, !version.isEmpty { return version }
        }
        return request.context.version.flatMap { $0.isEmpty ? nil : $0 }
    }

    private func tagged(_ response: SyncResponse, for context: SyncRequest.Context) -> SyncResponse {
        // A refusal may echo the sent record, under a tag that is a hash of the echo.
        guard context.action != .read, context.action != .custom, [200, 201].contains(response.status),
            let version = response.head.headerFields[.eTag].flatMap({ ETag($0).version }), !version.isEmpty,
            !response.body.isEmpty, var record = try? response.body.json,
            record[dialect.columns.id]?.string != nil, record[dialect.columns.version]?.string?.isEmpty ?? true
        else { return response }
        record[dialect.columns.version] = JSON(version)
        var response = response
        response.body = MessageBody(json: record)
        return response
    }
}
