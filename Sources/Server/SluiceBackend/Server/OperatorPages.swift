internal import HTTPTypes
package import SluiceCore

/// Pages for the operator, at paths of their own beside the tables. Their answers check the operator's token; the rate limit
/// and the limits of the listener hold for them too.
package struct OperatorPages: Sendable {
    /// Answers a request.
    ///
    /// - Parameter prefix: the path prefix that a proxy has stripped; empty for none.
    package typealias Answer = @Sendable (_ request: SyncRequest, _ prefix: String) async -> SyncResponse

    /// The most bytes of a request's body, which is a form with a token.
    static let mostBytes = 8_192

    private let paths: Set<String>
    private let answer: Answer

    /// Creates pages at some paths.
    package init(at paths: Set<String>, _ answer: @escaping Answer) {
        self.paths = paths
        self.answer = answer
    }

    /// Whether a request is for one of the pages.
    func takes(_ head: HTTPRequest) -> Bool { paths.contains(String((head.path ?? "").prefix { $0 != "?" })) }

    func reply(to request: SyncRequest) async -> SyncResponse {
        var response = await answer(request, request.head.forwardedPrefix)
        if request.head.method == .head { response.body = .empty }
        return response
    }
}

extension Backend {
    /// Reads the records of all users of a table for the operator, in the order of their ids.
    ///
    /// - Parameters:
    ///   - most: the most records.
    ///   - bytes: the bytes of stored records after which no further one is read.
    ///   - row: returns the part of a record that is kept; nil for none.
    /// - Returns: the parts, and the number of records that were not read.
    /// - Throws: ``SluiceError`` of code `invalidTable` if there is no such table; of a store code.
    package func rows<Row: Sendable>(
        of name: String, most: Int, bytes: Int, _ row: @escaping @Sendable (JSON) -> Row?
    ) async throws -> (rows: [Row], unread: Int) {
        guard let table = served.table(name) else {
            throw SluiceError(.invalidTable, "the table is not served", table: name)
        }
        let living = QueryExpression.binary(.eq, .column(SystemColumn.deleted), .literal(.bool(false)))
        let query = TableQuery(name, filter: living)
        return try await served.database.read { connection -> (rows: [Row], unread: Int) in
            var rows: [Row] = []
            var (read, size, isWhole) = (0, 0, true)
            try table.stored(connection).forEach(table.inOrder(query), on: connection) { record, stored in
                guard read < most, size < bytes else {
                    isWhole = false
                    return false
                }
                (read, size) = (read + 1, size + stored)
                if let kept = row(record) { rows.append(kept) }
                return true
            }
            if isWhole { return (rows, 0) }
            return (rows, try max(0, table.count(matching: query, connection) - read))
        }
    }
}
