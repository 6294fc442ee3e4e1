internal import SluiceBase

/// The primitive types of OData's entity data model, by their full names: those of v2 (OData v2, Overview, section 6)
/// and of v4 (CSDL 4.01, section 3.3) in one list, since a service may describe itself in either.
public enum EdmPrimitive: String, Sendable, Hashable, CaseIterable {
    case binary = "Edm.Binary"
    case boolean = "Edm.Boolean"
    case byte = "Edm.Byte"
    case sbyte = "Edm.SByte"
    case int16 = "Edm.Int16"
    case int32 = "Edm.Int32"
    case int64 = "Edm.Int64"
    case single = "Edm.Single"
    case double = "Edm.Double"
    case decimal = "Edm.Decimal"
    case string = "Edm.String"
    case guid = "Edm.Guid"
    /// v2: a time without a zone, from 1753 on, to 100 ns.
    case dateTime = "Edm.DateTime"
    case dateTimeOffset = "Edm.DateTimeOffset"
    /// v2: a time of day, written as a duration: `PT14H30M`.
    case time = "Edm.Time"
    /// v4: a day.
    case date = "Edm.Date"
    /// v4: a time of day.
    case timeOfDay = "Edm.TimeOfDay"
    /// v4: a duration.
    case duration = "Edm.Duration"
    case stream = "Edm.Stream"
    case geographyPoint = "Edm.GeographyPoint"
    case geometryPoint = "Edm.GeometryPoint"
}

/// A value in an address: in a key, or in a filter.
///
/// The value itself has a plain form: a string without its quotes, a GUID in small letters, a number's digits, a time
/// in ISO 8601, bytes in base64url. A record's id is such a text, so each value has one plain form only.
package enum EdmLiteral {
    /// Returns the literal of a plain text (OData v2, Overview, section 6; OData 4.01 ABNF, primitiveLiteral). Nil if
    /// the text is not the plain form of a value of the type.
    package static func text(of plain: String, type: EdmPrimitive, version: ODataVersion) -> String? {
        switch type {
        case .string: return quoted(plain)
        case .boolean: return plain == "true" || plain == "false" ? plain : nil
        case .byte, .sbyte, .int16, .int32, .int64:
            guard let number = Int64(plain), String(number) == plain, type.range.contains(number) else { return nil }
            return type == .int64 && version == .v2 ? plain + "L" : plain
        case .decimal, .single, .double:
            guard JSON.Number(text: plain) != nil else { return nil }
            if version == .v4 { return plain }
            return plain + (type == .decimal ? "M" : type == .single ? "f" : "d")
        case .guid:
            guard plain.isGUID, plain == plain.lowercased() else { return nil }
            return version == .v2 ? "guid'\(plain)'" : plain
        case .dateTime, .dateTimeOffset, .date, .time, .timeOfDay, .duration:
            guard isTimeText(plain) else { return nil }
            return time(plain, type, version)
        case .binary:
            guard let bytes = Base64.bytes(plain) else { return nil }
            return version == .v2 ? "X'\(Base16.text(bytes).uppercased())'" : "binary'\(plain)'"
        case .stream, .geographyPoint, .geometryPoint: return nil
        }
    }

    private static func time(_ plain: String, _ type: EdmPrimitive, _ version: ODataVersion) -> String? {
        switch (type, version) {
        case (.dateTime, .v2):
            // This type has no zone: a time with one is written in UTC.
            guard let time = Timestamp(plain) ?? Timestamp(plain + "Z") else { return nil }
            return "datetime'\(V2Date.text(time).dropLast())'"
        case (.dateTimeOffset, .v2): return "datetimeoffset'\(plain)'"
        case (.time, .v2): return "time'\(plain)'"
        case (.duration, _): return "duration'\(plain)'"
        default: return plain
        }
    }

    /// Returns the plain text of a literal in a service's address; nil if it is no literal of the type.
    package static func plain(_ literal: String, type: EdmPrimitive) -> String? {
        if type == .string { return unquoted(literal) }
        if let quote = literal.firstIndex(of: "'"), literal.last == "'" {
            let prefix = literal[..<quote].lowercased()
            let inner = String(literal[literal.index(after: quote)...].dropLast())
            guard !inner.contains("'") else { return nil }
            switch (prefix, type) {
            case ("x", .binary): return Base16.bytes(inner).map(Base64.addressText)
            case ("binary", .binary):
                return (Base16.bytes(inner) ?? Base64.bytes(inner)).map(Base64.addressText)
            case ("guid", .guid): return inner.lowercased()
            case ("datetime", .dateTime):
                return (Timestamp(inner) ?? Timestamp(inner + "Z")).map { V2Date.text($0) }
            case ("datetimeoffset", .dateTimeOffset), ("time", .time), ("duration", .duration): return inner
            default: return nil
            }
        }
        var text = literal[...]
        let suffixes: [EdmPrimitive: String] = [.int64: "Ll", .decimal: "Mm", .single: "Ff", .double: "Dd"]
        if let last = text.last, suffixes[type]?.contains(last) == true { text = text.dropLast() }
        if text.isEmpty { return nil }
        return type == .guid ? text.lowercased() : String(text)
    }

    /// Returns the text in single quotes, with those inside doubled.
    package static func quoted(_ text: String) -> String {
        var output = String.UnicodeScalarView("'".unicodeScalars)
        for scalar in text.unicodeScalars {
            output.append(scalar)
            if scalar == "'" { output.append(scalar) }
        }
        output.append("'")
        return String(output)
    }

    private static func unquoted(_ literal: String) -> String? {
        let scalars = Array(literal.unicodeScalars)
        guard scalars.count > 1, scalars.first == "'", scalars.last == "'" else { return nil }
        var output = String.UnicodeScalarView()
        var index = 1
        while index < scalars.count - 1 {
            if scalars[index] == "'" {
                guard index + 1 < scalars.count - 1, scalars[index + 1] == "'" else { return nil }
                index += 1
            }
            output.append(scalars[index])
            index += 1
        }
        return String(output)
    }

    /// Whether the text has only characters of dates, times and durations, so that no quote can end a literal.
    private static func isTimeText(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "+-:.".utf8.contains(byte)
            }
    }
}

extension EdmPrimitive {
    /// The values of an integer type; those of `Int64` for any other.
    package var range: ClosedRange<Int64> {
        switch self {
        case .byte: 0...255
        case .sbyte: -128...127
        case .int16: -32_768...32_767
        case .int32: -2_147_483_648...2_147_483_647
        default: .min ... .max
        }
    }
}
