extension QueryExpression {
    /// Reads an OData `$filter`, of version 3 as of version 4, not percent-encoded.
    ///
    /// ```swift
    /// let filter = try QueryExpression(odata: "year ge 1990 and not startswith(title,'The ')")
    /// ```
    ///
    /// `x in (a,b)` becomes `x eq a or x eq b`, and `substringof(a,b)` becomes `contains(b,a)`. Constants: `null`,
    /// `true`, `false`, numbers (with v3's suffixes `L`, `M`, `f`, `d`), texts in single quotes (a quote in them doubled),
    /// dates bare, as `datetime'…'`, `datetimeoffset'…'` or `cast(…,Edm.DateTimeOffset)`; GUIDs and times of day, which
    /// records hold as text.
    ///
    /// - Parameters:
    ///   - text: the expression.
    ///   - maximumLength: the longest text that is read, in bytes of UTF-8.
    ///   - maximumDepth: how deep expressions may be nested.
    /// - Throws: ``QuerySyntaxError`` with the place.
    public init(
        odata text: String, maximumLength: Int = 8192, maximumDepth: Int = 64
    ) throws(QuerySyntaxError) {
        var parser = try ODataParser(text, maximumLength: maximumLength, maximumDepth: maximumDepth)
        self = try parser.parse().0
    }

    /// Reads a `$filter` for a table whose columns are known, so that a type that does not fit and, if those are
    /// refused, an undeclared column are found with their place too. `columns` says what the text's names mean.
    ///
    /// - Throws: ``QuerySyntaxError`` with the place, for whatever `QueryEvaluator` would refuse as well.
    package init(
        odata text: String, for schema: TableSchema?, undeclared: UndeclaredColumns = .allowed,
        maximumLength: Int = 8192, maximumDepth: Int = 64, columns: @escaping ODataColumns = { $0 }
    ) throws(QuerySyntaxError) {
        var parser = try ODataParser(
            text, maximumLength: maximumLength, maximumDepth: maximumDepth, columns: columns)
        let (expression, places) = try parser.parse()
        do {
            _ = try QueryChecker(schema: schema, undeclared: undeclared).filter(expression, at: places)
        } catch {
            throw error.syntaxError
        }
        self = expression
    }

    /// The expression as an OData `$filter`, not percent-encoded.
    public func odata(_ style: ODataStyle) -> String {
        switch self {
        case .literal(let literal): literal.odata(style)
        case .column(let name): ODataName.encoded(name)
        case .unary(.not, let operand): "not(\(operand.odata(style)))"
        case .unary(.negate, let operand): "-(\(operand.odata(style)))"
        case .binary(let operation, _, _) where chain(of: operation).count > Self.longestNestedChain:
            "(\(chain(of: operation).map { $0.odata(style) }.joined(separator: " \(operation.rawValue) ")))"
        case .binary(let operation, let left, let right):
            "(\(left.odata(style)) \(operation.rawValue) \(right.odata(style)))"
        case .call(.contains, let arguments) where style == .v3:
            "substringof(\(arguments.reversed().map { $0.odata(style) }.joined(separator: ",")))"
        case .call(let function, let arguments):
            "\(function.rawValue)(\(arguments.map { $0.odata(style) }.joined(separator: ",")))"
        }
    }
}

extension QueryExpression {
    /// The most terms of an `and` or `or` that are printed as they are nested. Beyond, parentheses are left out: a
    /// reader's limit of nesting must not be reached by conditions that were put together one by one.
    private static let longestNestedChain = 32

    /// The terms of a chain of that logical operator; the expression alone if it is none.
    private func chain(of operation: BinaryOperator) -> [QueryExpression] {
        guard operation == .and || operation == .or else { return [self] }
        var terms: [QueryExpression] = []
        var waiting = [self]
        while let next = waiting.popLast() {
            if case .binary(operation, let left, let right) = next {
                waiting.append(right)
                waiting.append(left)
            } else {
                terms.append(next)
            }
        }
        return terms
    }
}

extension QueryLiteral {
    fileprivate func odata(_ style: ODataStyle) -> String {
        switch self {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .number(let number): return style == .v4 ? number.description : number.odata3
        case .string(let text): return "'\(Self.doublingQuotes(text))'"
        case .date(let date):
            // Milliseconds are what servers write; all seven digits only where they say more.
            let isWhole = date.ticks % (Timestamp.ticksPerSecond / 1000) == 0
            let text = date.text(fractionDigits: isWhole ? 3 : 7)
            return style == .v3 ? "datetimeoffset'\(text)'" : "cast(\(text),Edm.DateTimeOffset)"
        }
    }

    private static func doublingQuotes(_ text: String) -> String {
        var output = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            output.append(scalar)
            if scalar == "'" { output.append(scalar) }
        }
        return String(output)
    }
}

extension JSONNumber {
    /// The number with the suffix by which v3 tells its type: none for 32-bit integers and doubles, `L` for 64-bit
    /// integers, `M` for a decimal that no double is.
    fileprivate var odata3: String {
        switch storage {
        case .int(let value): Int32(exactly: value) == nil ? "\(value)L" : "\(value)"
        case .double: description
        case .text(let text): text.utf8.contains { $0 | 0x20 == UInt8(ascii: "e") } ? text : text + "M"
        }
    }
}
