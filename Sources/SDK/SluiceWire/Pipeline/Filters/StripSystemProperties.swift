internal import HTTPTypes
internal import SluiceBase

/// Removes the server's own properties from the bodies of POST, PATCH and PUT to tables, null or not: every member
/// whose name begins with two underscores, and the wire's system columns other than the id. Servers refuse bodies that
/// hold them. `deleted` stays in an undelete.
struct StripSystemProperties: RequestTransform {
    let dialect: Dialect

    func request(_ request: SyncRequest) -> SyncRequest {
        guard request.context.table != nil, [.post, .patch, .put].contains(request.head.method),
            !request.body.isEmpty, var body = try? request.body.json
        else { return request }
        let names = body.names.filter { name in
            dialect.isSystemProperty(name)
                && !(name == dialect.columns.deleted && request.context.action == .undelete)
        }
        guard !names.isEmpty else { return request }
        for name in names { body[name] = nil }
        var request = request
        request.body = MessageBody(json: body)
        return request
    }
}
