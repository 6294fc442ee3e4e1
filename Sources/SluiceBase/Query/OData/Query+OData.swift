extension Query {
    /// Reads an OData `$orderby`: `title desc,year`.
    ///
    /// - Throws: ``QuerySyntaxError`` with the place.
    public static func order(odata text: String) throws(QuerySyntaxError) -> [SortKey] {
        try order(odata: text, for: nil)
    }

    /// Reads a `$orderby` for a table whose columns are known; `columns` says what its names mean.
    ///
    /// - Throws: ``QuerySyntaxError`` with the place, also for an undeclared column, if those are refused.
    package static func order(
        odata text: String, for schema: TableSchema?, undeclared: UndeclaredColumns = .allowed,
        columns: ODataColumns = { $0 }
    ) throws(QuerySyntaxError) -> [SortKey] {
        try list(text, QueryChecker(schema: schema, undeclared: undeclared), columns) {
            (scanner, name) throws(QuerySyntaxError) in
            scanner.skipSpace()
            if scanner.skip(word: "desc") { return SortKey(name, descending: true) }
            _ = scanner.skip(word: "asc")
            return SortKey(name)
        }
    }

    /// Reads an OData `$select`: `id,title`. `*` stands for all, which is the empty list.
    ///
    /// - Throws: ``QuerySyntaxError`` with the place.
    public static func select(odata text: String) throws(QuerySyntaxError) -> [PropertyName] {
        try select(odata: text, for: nil)
    }

    /// Reads a `$select` for a table whose columns are known; `columns` says what its names mean.
    ///
    /// - Throws: ``QuerySyntaxError`` with the place, also for an undeclared column, if those are refused.
    package static func select(
        odata text: String, for schema: TableSchema?, undeclared: UndeclaredColumns = .allowed,
        columns: ODataColumns = { $0 }
    ) throws(QuerySyntaxError) -> [PropertyName] {
        if text == "*" { return [] }
        return try list(text, QueryChecker(schema: schema, undeclared: undeclared), columns) {
            (_, name) throws(QuerySyntaxError) in name
        }
    }

    /// The order as an OData `$orderby`, not percent-encoded; empty if there is none.
    public var odataOrder: String {
        order.map { ODataName.encoded($0.column) + ($0.descending ? " desc" : "") }.joined(separator: ",")
    }

    /// The properties to give back as an OData `$select`, not percent-encoded; empty if all are.
    public var odataSelect: String { select.map(ODataName.encoded).joined(separator: ",") }

    /// Names with commas between them, each with what `element` makes of it and of what follows it.
    private static func list<Element>(
        _ text: String, _ checker: QueryChecker, _ columns: ODataColumns,
        _ element: (inout ODataScanner, PropertyName) throws(QuerySyntaxError) -> Element
    ) throws(QuerySyntaxError) -> [Element] {
        var scanner = try ODataScanner(text, maximumLength: 8192)
        var elements: [Element] = []
        repeat {
            scanner.skipSpace()
            let place = scanner.position
            guard let written = scanner.identifier() else {
                throw scanner.error("expected a property's name, found \(scanner.found)")
            }
            let name = try scanner.column(written, columns, at: place)
            do { _ = try checker.column(name, at: place) } catch { throw error.syntaxError }
            elements.append(try element(&scanner, name))
            scanner.skipSpace()
        } while scanner.skip(",")
        guard scanner.atEnd else { throw scanner.error("expected \",\" or the end, found \(scanner.found)") }
        return elements
    }
}
