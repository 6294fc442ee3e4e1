/// Why a query means nothing: what, and where in the text it was read from, if it was.
struct QueryFault: Error, Sendable {
    let reason: String
    let position: Int?
    /// Whether it means something, but nothing that is run here.
    let isUnsupported: Bool

    init(_ reason: String, at position: Int? = nil) {
        self.reason = reason
        self.position = position
        isUnsupported = false
    }

    init(unsupported reason: String, at position: Int?) {
        self.reason = reason
        self.position = position
        isUnsupported = true
    }

    /// The fault of a query that is a tree.
    func error(table: String?) -> SluiceError {
        SluiceError(isUnsupported ? .unsupported : .invalidQuery, reason, table: table)
    }

    /// The fault of a query that is a text.
    var syntaxError: QuerySyntaxError {
        QuerySyntaxError(reason: reason, position: position ?? 0, isUnsupported: isUnsupported)
    }
}
