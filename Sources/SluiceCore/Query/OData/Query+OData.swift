extension Query {
    /// Reads an OData `$orderby`: `title desc,year`.
    ///
    /// - Throws: ``QuerySyntaxError`` with the place.
    public static func order(odata text: String) throws(QuerySyntaxError) -> [SortKey] {
        try order(odata: text) { $0 }
    }

    /// Reads an `$orderby` whose names are those of `columns`: a name that has no column there is an error at its place.
    package static func order(odata text: String, columns: ODataColumns) throws(QuerySyntaxError) -> [SortKey] {
        try list(text, columns) { (scanner, name) throws(QuerySyntaxError) in
            scanner.skipSpace()
            if scanner.skip(word: "desc") { return SortKey(name, descending: true) }
            _ = scanner.skip(word: "asc")
            return SortKey(name)
        }
    }

    /// Reads an OData `$select`: `id,title`. `*` stands for all, which is the empty list.
    ///
    /// - Throws: ``QuerySyntaxError`` with the place.
    public static func select(odata text: String) throws(QuerySyntaxError) -> [String] {
        try select(odata: text) { $0 }
    }

    /// Reads a `$select` whose names are those of `columns`: a name that has no column there is an error at its place.
    package static func select(odata text: String, columns: ODataColumns) throws(QuerySyntaxError) -> [String] {
        if text == "*" { return [] }
        return try list(text, columns) { (_, name) throws(QuerySyntaxError) in name }
    }

    /// The order as an OData `$orderby`, not percent-encoded; empty if there is none.
    public var odataOrder: String {
        order.map { ODataName.encoded($0.column) + ($0.descending ? " desc" : "") }.joined(separator: ",")
    }

    /// The properties to give back as an OData `$select`, not percent-encoded; empty if all are.
    public var odataSelect: String { select.map(ODataName.encoded).joined(separator: ",") }

    /// Names with commas between them, each with what `element` makes of it and of what follows it.
    private static func list<Element>(
        _ text: String, _ columns: ODataColumns,
        _ element: (inout ODataScanner, String) throws(QuerySyntaxError) -> Element
    ) throws(QuerySyntaxError) -> [Element] {
        var scanner = try ODataScanner(text, maximumLength: 8192)
        var elements: [Element] = []
        repeat {
            scanner.skipSpace()
            let start = scanner.position
            guard let name = scanner.identifier() else {
                throw scanner.error("expected a property's name, found \(scanner.found)")
            }
            elements.append(try element(&scanner, try scanner.column(name, columns, at: start)))
            scanner.skipSpace()
        } while scanner.skip(",")
        guard scanner.atEnd else { throw scanner.error("expected \",\" or the end, found \(scanner.found)") }
        return elements
    }
}
