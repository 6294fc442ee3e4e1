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
        self = try parser.parse()
    }

    /// Reads a `$filter` whose names are those of `columns`: a name that has no column there is an error at its place.
    package init(odata text: String, columns: @escaping ODataColumns) throws(QuerySyntaxError) {
        var parser = try ODataParser(text, maximumLength: 8192, maximumDepth: 64, columns: columns)
        self = try parser.parse()
    }

    /// The expression as an OData `$filter`, not percent-encoded.
    public func odata(_ style: ODataStyle) -> String {
        switch self {
        case .literal(let literal): literal.odata(style)
        case .column(let name): ODataName.encoded(name)
        case .unary(.not, let operand): "not(\(operand.odata(style)))"
        case .unary(.negate, let operand): "-(\(operand.odata(style)))"
        case .binary(let operation, let left, let right):
            "(\(left.odata(style)) \(operation.rawValue) \(right.odata(style)))"
        case .call(.contains, let arguments) where style == .v3:
            "substringof(\(arguments.reversed().map { $0.odata(style) }.joined(separator: ",")))"
        case .call(let function, let arguments):
            "\(function.rawValue)(\(arguments.map { $0.odata(style) }.joined(separator: ",")))"
        }
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
