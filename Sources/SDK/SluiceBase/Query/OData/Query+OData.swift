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

extension TableQuery.Literal {
    func odata(_ style: ODataOptions.Style) -> String {
        switch self {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .number(let number): return style == .v4 ? number.description : number.odata3
        case .string(let text): return "'\(Self.doublingQuotes(text))'"
        case .date(let date):
            return style == .v3
                ? "datetimeoffset'\(Self.text(of: date))'" : "cast(\(Self.text(of: date)),Edm.DateTimeOffset)"
        case .day(let day):
            return style == .v3
                ? "datetime'\(Self.text(of: day))'" : "cast(\(day.text(fractionDigits: 0).prefix(10)),Edm.Date)"
        case .timeOfDay(let time):
            return style == .v3 ? "time'\(Self.duration(time))'" : "cast(\(time.timeOfDayText),Edm.TimeOfDay)"
        case .guid(let text): return style == .v3 ? "guid'\(text)'" : "cast(\(text),Edm.Guid)"
        case .point(let point):
            return "geography'POINT(\(Self.degrees(point.longitude)) \(Self.degrees(point.latitude)))'"
        case .duration(let ticks): return "duration'\(QueryDuration.text(ticks))'"
        case .enumeration(let type, let value):
            return "\(ODataName.plain(type))'\(Self.doublingQuotes(value))'"
        case .binary(let text): return "binary'\(Self.doublingQuotes(text))'"
        case .shape(let kind, let text): return "\(ODataName.plain(kind))'\(Self.doublingQuotes(text))'"
        case .infinity(let isNegative): return isNegative ? "-INF" : "INF"
        case .notANumber: return "NaN"
        }
    }

    private static func degrees(_ number: Double) -> String {
        Int64(exactly: number).map { String($0) } ?? number.description
    }

    /// Returns a date with milliseconds, as servers write it; with all seven digits only if it needs them.
    private static func text(of date: Timestamp) -> String {
        date.text(fractionDigits: date.ticks % (Timestamp.ticksPerSecond / 1000) == 0 ? 3 : 7)
    }

    /// Returns v3's form of a time of day. (OData v3 URL conventions, Edm.Time.)
    private static func duration(_ time: Timestamp) -> String {
        let parts = time.timeOfDayText.split(separator: ":")
        return "PT" + zip(parts, "HMS").map { "\($0)\($1)" }.joined()
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

extension JSON.Number {
    /// The number with v3's suffix for its type: none for 32-bit integers and doubles, `L` for 64-bit integers, `M` for
    /// a decimal without an exact double.
    fileprivate var odata3: String {
        switch storage {
        case .int(let value): Int32(exactly: value) == nil ? "\(value)L" : "\(value)"
        case .double: description
        case .text(let text): text.utf8.contains { $0 | 0x20 == UInt8(ascii: "e") } ? text : text + "M"
        }
    }
}
