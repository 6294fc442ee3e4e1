extension TableQuery {
    /// Reads an OData `$orderby`: `title desc,year`, `Address/City,Items/$count desc`.
    ///
    /// - Throws: ``TableQuery.SyntaxError`` with the place.
    public static func order(odata text: String) throws(TableQuery.SyntaxError) -> [SortKey] {
        var parser = try ODataParser(text, maximumLength: 8192, maximumDepth: QueryChecker.maximumDepth)
        return try orderKeys(&parser).map(\.key)
    }

    /// Reads a `$orderby` for a table with known columns. `columns` maps its names, and `aliases` has the values of
    /// names that begin with `@`.
    ///
    /// - Throws: ``TableQuery.SyntaxError`` with the place, also for an undeclared column, if those are refused.
    package static func order(
        odata text: String, for schema: TableSchema?, undeclared: UndeclaredColumns = .allowed,
        relations: (any TableQuery.Relations)? = nil, aliases: [(name: String, value: String)] = [],
        columns: @escaping ODataColumns = { $0 }
    ) throws(TableQuery.SyntaxError) -> [SortKey] {
        var parser = try ODataParser(
            text, maximumLength: 8192, maximumDepth: QueryChecker.maximumDepth, columns: columns)
        parser.aliases = try ODataAliases(aliases)
        let keys = try orderKeys(&parser)
        let checker = QueryChecker(schema: schema, undeclared: undeclared, relations: relations)
        for (key, places) in keys {
            do { _ = try checker.key(key.expression, at: places) } catch { throw error.syntaxError }
        }
        return keys.map(\.key)
    }

    private static func orderKeys(
        _ parser: inout ODataParser
    ) throws(TableQuery.SyntaxError) -> [(key: SortKey, places: ODataPlaces)] {
        let keys = try parser.order(level: 0)
        try parser.expectEnd("\",\" or the end")
        return keys
    }

    /// Reads an OData `$select` of whole properties: `id,title`. `*` means all, which is the empty list.
    /// ``ODataOptions`` reads paths and the rest of the `$select` syntax.
    ///
    /// - Throws: ``TableQuery.SyntaxError`` with the place.
    public static func select(odata text: String) throws(TableQuery.SyntaxError) -> [PropertyName] {
        try select(odata: text, for: nil)
    }

    /// Reads a `$select` for a table with known columns; `columns` maps its names.
    ///
    /// - Throws: ``TableQuery.SyntaxError`` with the place, also for an undeclared column, if those are refused.
    package static func select(
        odata text: String, for schema: TableSchema?, undeclared: UndeclaredColumns = .allowed,
        columns: ODataColumns = { $0 }
    ) throws(TableQuery.SyntaxError) -> [PropertyName] {
        if text == "*" { return [] }
        let checker = QueryChecker(schema: schema, undeclared: undeclared)
        var scanner = try ODataScanner(text, maximumLength: 8192)
        var names: [PropertyName] = []
        repeat {
            scanner.skipSpace()
            let place = scanner.position
            guard let written = scanner.identifier() else {
                throw scanner.error("expected a property's name, found \(scanner.found)")
            }
            let name = try scanner.column(written, columns, at: place)
            do { _ = try checker.column(name, at: place) } catch { throw error.syntaxError }
            names.append(name)
            scanner.skipSpace()
            if scanner.next == "/" || scanner.next == "(" {
                throw scanner.unsupported("only whole properties are selected here")
            }
        } while scanner.skip(",")
        guard scanner.atEnd else { throw scanner.error("expected \",\" or the end, found \(scanner.found)") }
        return names
    }

    /// The order as an OData `$orderby`, not percent-encoded; empty if there is none.
    public var odataOrder: String {
        order.map { $0.expression.text(.v4) + ($0.descending ? " desc" : "") }.joined(separator: ",")
    }

    /// The selected properties as an OData `$select`, not percent-encoded; empty for all.
    public var odataSelect: String { select.map { ODataName.encoded($0) }.joined(separator: ",") }
}
