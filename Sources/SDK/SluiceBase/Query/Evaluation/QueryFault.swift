/// The reason against a query, and its position in the text, if the query was read from one.
struct QueryFault: Error, Sendable {
    let reason: String
    let position: Int?
    /// Whether the query is valid but cannot be run here.
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

    /// Returns the error of a query that is a tree.
    func error(table: String?) -> SluiceError {
        SluiceError(isUnsupported ? .unsupported : .invalidQuery, reason, table: table)
    }

    /// The error of a query that is a text.
    var syntaxError: TableQuery.SyntaxError {
        TableQuery.SyntaxError(reason: reason, position: position ?? 0, isUnsupported: isUnsupported)
    }
}
