internal import HTTPTypes
internal import SluiceCore

/// Checks a request's operation against the table's access rules, before any record is read.
enum Permission {
    /// - Parameter methods: the methods of the request's path, with their operations.
    /// - Throws: ``Refusal``: 405 for an operation that is disabled, the table's status (401 by default) for a request
    ///   that lacks a required user.
    static func check(
        _ operation: BackendOperation, _ rules: BackendConfiguration.Table, _ principal: Principal?,
        methods: [(name: String, operation: BackendOperation)] = []
    ) throws(Refusal) {
        switch rules.access[operation] {
        case .anonymous: return
        case .authenticated:
            if principal != nil { return }
            var refusal = Refusal(
                HTTPResponse.Status(code: rules.unauthorizedStatus),
                "the table needs a user for this (\(operation.rawValue)); send a token")
            if rules.unauthorizedStatus == 401 { refusal.headers[.wwwAuthenticate] = "Bearer" }
            throw refusal
        case .disabled:
            var refusal = Refusal(.methodNotAllowed, "the table does not allow this (\(operation.rawValue))")
            // RFC 9110, section 15.5.6 requires a list of the other methods.
            refusal.headers[.allow] = methods.filter { rules.access[$0.operation] != .disabled }.map(\.name)
                .joined(separator: ", ")
            throw refusal
        }
    }
}
