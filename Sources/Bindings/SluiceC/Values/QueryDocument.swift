internal import CSluice
internal import SluiceCore

/// Queries in the form of the header's documents.
struct QueryDocument: Sendable {
    let query: TableQuery
    /// The members beside the query's own.
    let others: [String: JSONPlace]

    /// Reads a document.
    ///
    /// - Parameter others: names that are allowed besides the query's own.
    init(_ json: JSON?, _ table: String, _ what: String, parts: [String], others: [String] = []) throws {
        let members = try JSONPlace(json ?? .object, in: what).members(parts + others)
        func text(_ name: String) throws -> String? { try members[name]?.text(upTo: 1 << 20) }
        func number(_ name: String) throws -> Int? { try members[name]?.integer(in: 0...Int(Int32.max)) }
        var query = TableQuery(table)
        query.filter = try text("filter").map { try QueryExpression(odata: $0) }
        query.order = try text("orderby").map { try TableQuery.order(odata: $0) } ?? []
        query.select = try text("select").map { try TableQuery.select(odata: $0) } ?? []
        (query.top, query.skip) = (try number("top"), try number("skip") ?? 0)
        query.includesCount = try members["count"]?.flag() ?? false
        self.query = query
        self.others = members.filter { others.contains($0.key) }
    }

    /// Reads a query for reading records.
    static func reading(
        _ bytes: UnsafePointer<CChar>?, _ length: Int, _ table: String
    ) throws -> TableQuery {
        try QueryDocument(
            try Input.optionalJSON(bytes, length, "query"), table, "query",
            parts: ["filter", "orderby", "select", "top", "skip", "count"]
        ).query
    }

    /// Returns the records that match, with their number if it was requested.
    static func items(
        of query: TableQuery, records: (TableQuery) throws -> [JSON], count: (TableQuery) throws -> Int
    ) rethrows -> JSON {
        var json = JSON.object
        json["items"] = JSON(try records(query))
        if query.includesCount { json["count"] = JSON(try count(query)) }
        return json
    }
}
