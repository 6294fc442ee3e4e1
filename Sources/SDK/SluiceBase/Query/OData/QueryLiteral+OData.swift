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
