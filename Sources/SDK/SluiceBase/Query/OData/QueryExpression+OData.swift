extension ODataOptions {
    /// The generation of OData that a text is written in. The parser reads both.
    public enum Style: Sendable, Hashable {
        /// The v3 of Azure Mobile Services and of Mobile Apps before version 6: `substringof('x',name)`,
        /// `datetimeoffset'2013-01-01T00:00:00.000Z'`, `12L`.
        case v3
        /// The v4 of the later servers: `contains(name,'x')`, `cast(2013-01-01T00:00:00.000Z,Edm.DateTimeOffset)`.
        case v4
    }
}

extension QueryExpression {
    /// Reads an OData `$filter` of version 3 or 4, not percent-encoded.
    ///
    /// ```swift
    /// let filter = try QueryExpression(odata: "year ge 1990 and not startswith(title,'The ')")
    /// ```
    ///
    /// `substringof(a,b)` becomes `contains(b,a)`. Constants: `null`, `true`, `false`, numbers (with v3's suffixes `L`,
    /// `M`, `f`, `d`), texts in single quotes (a quote in them doubled); dates bare, as `datetime'…'`,
    /// `datetimeoffset'…'` or `cast(…,Edm.DateTimeOffset)`; days, times of day and GUIDs bare or by `cast`; and places,
    /// `geography'POINT(13.4 52.5)'`.
    ///
    /// - Parameters:
    ///   - text: the expression.
    ///   - maximumLength: the longest accepted text, in bytes of UTF-8.
    ///   - maximumDepth: the deepest allowed nesting of expressions.
    /// - Throws: ``TableQuery.SyntaxError`` with the place.
    public init(
        odata text: String, maximumLength: Int = 8192, maximumDepth: Int = 64
    ) throws(TableQuery.SyntaxError) {
        var parser = try ODataParser(text, maximumLength: maximumLength, maximumDepth: maximumDepth)
        self = try parser.parse().0
    }

    /// Reads a `$filter` for a table with known columns. So an unfit type and, if they are refused, an undeclared
    /// column are reported with their position too. `columns` maps the text's names, and `aliases` has the values of
    /// names that begin with `@`.
    ///
    /// - Throws: ``TableQuery.SyntaxError`` with the place, also for every fault that `TableQuery.Evaluator` would refuse.
    package init(
        odata text: String, for schema: TableSchema?, undeclared: UndeclaredColumns = .allowed,
        relations: (any TableQuery.Relations)? = nil, aliases: [(name: String, value: String)] = [],
        maximumLength: Int = 8192, maximumDepth: Int = 64, columns: @escaping ODataColumns = { $0 }
    ) throws(TableQuery.SyntaxError) {
        var parser = try ODataParser(
            text, maximumLength: maximumLength, maximumDepth: maximumDepth, columns: columns)
        parser.aliases = try ODataAliases(aliases)
        let (expression, places) = try parser.parse()
        do {
            _ = try QueryChecker(schema: schema, undeclared: undeclared, relations: relations).filter(
                expression, at: places)
        } catch {
            throw error.syntaxError
        }
        self = expression
    }
}
