internal import HTTPTypes
internal import SluiceCore

/// Whether a request may do what it asks for at all, before any record is looked at.
enum Access {
    /// - Throws: ``Refusal``: 405 for an operation that is disabled, the table's status (401 where it says nothing) for a
    ///   request without a user where one is needed.
    static func check(
        _ operation: BackendOperation, _ rules: BackendConfiguration.Table, _ principal: Principal?
    ) throws(Refusal) {
        switch rules.access[operation] {
        case .anonymous: return
        case .authenticated:
            if principal != nil { return }
            var reply = Reply.failure(
                HTTPResponse.Status(code: rules.unauthorizedStatus), "to \(operation.rawValue) needs a user; send a token")
            if rules.unauthorizedStatus == 401 { reply.headers[.wwwAuthenticate] = "Bearer" }
            throw Refusal(reply)
        case .disabled:
            var reply = Reply.failure(.methodNotAllowed, "to \(operation.rawValue) is disabled for this table")
            reply.headers[.allow] = allowed(beside: operation, rules)
            throw Refusal(reply)
        }
    }

    /// The methods that remain on the path; RFC 9110, section 15.5.6 wants them named. A read is on both paths.
    private static func allowed(beside operation: BackendOperation, _ rules: BackendConfiguration.Table) -> String {
        let methods: [(BackendOperation, String)] =
            switch operation {
            case .insert: [(.read, "GET"), (.insert, "POST")]
            case .read: [(.insert, "POST"), (.update, "PATCH, PUT"), (.delete, "DELETE")]
            default: [(.read, "GET"), (.update, "PATCH, PUT"), (.delete, "DELETE"), (.undelete, "POST")]
            }
        return methods.filter { rules.access[$0.0] != .disabled }.map(\.1).joined(separator: ", ")
    }
}
