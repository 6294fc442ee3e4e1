internal import HTTPTypes
internal import SluiceCore

/// The query options of a list, read and checked.
struct ListParameters: Sendable {
    var query: TableQuery
    /// The token up to which the client knows the changes; nil for an ordinary list.
    private(set) var deltaToken: String?
    /// The original parameters, for the link to the next page.
    private let parameters: [(name: String, value: String)]
    /// The condition on the records of this page and later ones; nil for all. The count ignores it.
    private(set) var later: QueryExpression?
    /// The bounds of an answer.
    private let pageSize: PageSize

    /// Reads the options of a list of a table with the given rules.
    ///
    /// - Parameter columns: maps a name to its stored column; nil for none.
    /// - Throws: ``Refusal`` (400) with the reason and the place.
    init(
        _ target: RequestTarget, _ rules: BackendConfiguration.Table, _ schema: TableSchema, bytes: Int,
        undeclared: UndeclaredColumns, includesDeleted: Bool, columns: @escaping (PropertyName) -> PropertyName?
    ) throws {
        parameters = target.parameters
        pageSize = PageSize(records: rules.pageSize, bytes: bytes)
        query = TableQuery(rules.name)
        query.includesDeleted = includesDeleted
        var seen: Set<String> = []
        for (name, value) in parameters {
            let option = name.lowercased()
            guard option.hasPrefix("$") || option == "__includedeleted" else { continue }
            guard seen.insert(option).inserted else {
                throw Refusal(.badRequest, "the parameter \(name) is given twice")
            }
            switch option {
            case "$filter":
                query.filter = try Self.reading(name) {
                    try QueryExpression(odata: value, for: schema, undeclared: undeclared, columns: columns)
                }
            case "$orderby":
                query.order = try Self.reading(name) {
                    try TableQuery.order(odata: value, for: schema, undeclared: undeclared, columns: columns)
                }
            case "$select":
                query.select = try Self.reading(name) {
                    try TableQuery.select(odata: value, for: schema, undeclared: undeclared, columns: columns)
                }
            case "$skip": query.skip = try Self.count(name, value)
            case "$top": query.top = try Self.count(name, value)
            // Both spellings of both generations are accepted.
            case "$inlinecount": query.includesCount = try Self.flag(name, value, yes: "allpages", no: "none")
            case "$count": query.includesCount = try Self.flag(name, value, yes: "true", no: "false")
            case "$deltatoken": deltaToken = value
            case "__includedeleted": query.includesDeleted = value.lowercased() == "true"
            default: throw Refusal(.badRequest, "the query option \(name) is not supported")
            }
        }
        if let top = query.top, top > rules.maxTop {
            throw Refusal(.badRequest, "You cannot request more than \(rules.maxTop) records")
        }
    }

    /// Creates the parameters for a query that was parsed elsewhere.
    init(_ query: TableQuery, later: QueryExpression?, deltaToken: String?, pageSize: PageSize) {
        self.query = query
        self.later = later
        self.deltaToken = deltaToken
        self.pageSize = pageSize
        parameters = []
    }

    /// The most rows of this answer.
    var page: Int { min(query.top ?? .max, pageSize.records) }

    /// The most rows and bytes of this answer.
    var size: PageSize { PageSize(records: page, bytes: pageSize.bytes) }

    /// Whether the client has asked for rows beyond this answer's.
    var wantsMore: Bool { query.top ?? .max > page }

    /// Returns the encoded parameters of the next page: this page's, with `$skip` and `$top` moved past its rows.
    func next(after rows: Int) -> String {
        let changed: Set = ["$skip", "$top"]
        var parts = parameters.filter { !changed.contains($0.name.lowercased()) }
        parts.append(("$skip", String(query.skip.addingReportingOverflow(rows).partialValue)))
        if let top = query.top { parts.append(("$top", String(top - rows))) }
        return parts.map { PercentEncoding.query($0.name) + "=" + PercentEncoding.query($0.value) }
            .joined(separator: "&")
    }

    /// Runs `body`, which parses an option, and turns a syntax error into a refusal that names the option.
    ///
    /// - Parameter unsupported: the status for valid syntax that is not supported.
    static func reading<Value>(
        _ name: String, unsupported: HTTPResponse.Status = .badRequest, _ body: () throws -> Value
    ) throws -> Value {
        do {
            return try body()
        } catch let error as TableQuery.SyntaxError {
            throw Refusal(error.isUnsupported ? unsupported : .badRequest, "\(name): \(error)")
        }
    }

    static func flag(_ name: String, _ value: String, yes: String, no: String) throws -> Bool {
        switch value.lowercased() {
        case yes: true
        case no: false
        default: throw Refusal(.badRequest, "\(name) is \(yes) or \(no)")
        }
    }

    /// Reads a number of rows; its bound prevents an overflow in the next page's.
    static func count(_ name: String, _ value: String) throws -> Int {
        guard value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(value), number <= 1 << 53 else {
            throw Refusal(.badRequest, "\(name) is a whole number that is not negative, not \(value)")
        }
        return number
    }
}
