package import SluiceCore

/// A query and the records that it is asked of.
package struct QueryTrial: Sendable {
    package var query: TableQuery
    package var records: [JSON]
    /// The table's columns; nil if none are declared.
    package var schema: TableSchema?

    package init(_ query: TableQuery, _ records: [JSON], _ schema: TableSchema?) {
        self.query = query
        self.records = records
        self.schema = schema
    }
}

extension QueryTrial: CustomStringConvertible {
    /// The query as OData text and the records, each in a line.
    package var description: String {
        var lines: [String] = []
        if let filter = query.filter { lines.append("$filter=\(filter.odata(.v4))") }
        if !query.order.isEmpty { lines.append("$orderby=\(query.odataOrder)") }
        if query.skip != 0 { lines.append("$skip=\(query.skip)") }
        if let top = query.top { lines.append("$top=\(top)") }
        lines.append(schema == nil ? "no declared columns" : "declared columns")
        return (lines + records.map(\.description)).joined(separator: "\n")
    }
}

/// What somebody says to a query.
package enum QueryAnswer: Sendable, Equatable {
    /// The ids of the records, in their order, and how many match without the page.
    case records([String], count: Int)
    /// Refused with an error of that code.
    case refused(String)
    /// Not asked: the way there cannot carry the query.
    case skipped(String)
}

/// Somebody who answers queries about some records.
package struct QueryAnswerer: Sendable {
    package let name: String
    package let answer: @Sendable (TableQuery) async throws -> QueryAnswer

    /// An answerer; errors that it throws count as refusals.
    package init(_ name: String, _ answer: @escaping @Sendable (TableQuery) async throws -> QueryAnswer) {
        self.name = name
        self.answer = answer
    }

    func answer(to query: TableQuery) async -> QueryAnswer {
        do {
            return try await answer(query)
        } catch let error as SluiceError {
            return .refused(error.code.description)
        } catch {
            return .refused(String(describing: error))
        }
    }
}
