/// Why a query means nothing: what, and where in the text it was read from, if it was.
struct QueryFault: Error, Sendable {
    let reason: String
    let position: Int?

    init(_ reason: String, at position: Int? = nil) {
        self.reason = reason
        self.position = position
    }

    /// The fault of a query that is a tree.
    func error(table: String?) -> SluiceError { SluiceError(.invalidQuery, reason, table: table) }

    /// The fault of a query that is a text.
    var syntaxError: QuerySyntaxError { QuerySyntaxError(reason: reason, position: position ?? 0) }
}
