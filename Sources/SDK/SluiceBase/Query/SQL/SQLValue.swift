/// A value bound to an SQL statement, or an argument or result of an SQL function.
package enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

extension SQLValue {
    /// The value of a declared column for a record's property: null where it is null, absent or of another type, so
    /// that SQL queries see the same value as the record.
    package init(_ json: JSON?, declared type: TableSchema.ColumnType) {
        switch (type, json?.kind) {
        case (.string, .string), (.date, .string): self = .text(json?.string ?? "")
        case (.json, .array), (.json, .object): self = json.map { .text($0.description) } ?? .null
        default:
            switch QueryValue(json, declared: type) {
            case .integer(let value): self = .integer(value)
            case .real(let value): self = .real(value)
            case .bool(let value): self = .integer(value ? 1 : 0)
            default: self = .null
            }
        }
    }

    // The self-describing form, for a value whose kind is known only when the statement runs. Null, numbers and strings
    // stay the same, and other values are blobs: the byte 0 or 1 for false or true, 2 for objects and arrays, 3 and 8
    // bytes of ticks for a date, 4 and the same for a time of day, 5 and the text for a GUID, 6 and a longitude and
    // latitude of 8 bytes each for a place, 7 and 8 bytes of ticks for a duration.

    /// The value in the self-describing form.
    package init(_ value: QueryValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .blob([value ? 1 : 0])
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        case .string(let value): self = .text(value)
        case .date(let value): self = .blob([3] + Self.bytes(UInt64(bitPattern: value.ticks)))
        case .time(let value): self = .blob([4] + Self.bytes(UInt64(bitPattern: value.ticks)))
        case .guid(let value): self = .blob([5] + value.utf8)
        case .duration(let value): self = .blob([7] + Self.bytes(UInt64(bitPattern: value)))
        case .point(let value):
            self = .blob([6] + Self.bytes(value.longitude.bitPattern) + Self.bytes(value.latitude.bitPattern))
        case .other: self = .blob([2])
        }
    }

    /// The value of the self-describing form.
    package var queryValue: QueryValue {
        switch self {
        case .null: return .null
        case .integer(let value): return .integer(value)
        case .real(let value): return QueryValue(real: value)
        case .text(let value): return .string(value)
        case .blob(let bytes):
            switch bytes.first {
            case 0: return .bool(false)
            case 1: return .bool(true)
            case 3 where bytes.count == 9: return .date(Timestamp(ticks: Int64(bitPattern: Self.number(bytes[1...]))))
            case 4 where bytes.count == 9: return .time(Timestamp(ticks: Int64(bitPattern: Self.number(bytes[1...]))))
            case 5: return .guid(String(decoding: bytes.dropFirst(), as: UTF8.self))
            case 7 where bytes.count == 9: return .duration(Int64(bitPattern: Self.number(bytes[1...])))
            case 6 where bytes.count == 17:
                let longitude = Double(bitPattern: Self.number(bytes[1..<9]))
                let latitude = Double(bitPattern: Self.number(bytes[9...]))
                return GeographyPoint(longitude: longitude, latitude: latitude).map(QueryValue.point) ?? .other
            default: return .other
            }
        }
    }
    static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - $0 * 8)) }
    }

    static func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// A list of values as one bound value, because a statement limits their number.
enum SQLValueList {
    /// Returns each value as a letter for its kind, its length in 8 bytes, and its bytes.
    static func blob(_ values: [SQLValue]) -> SQLValue {
        var output: [UInt8] = []
        for value in values {
            let (kind, bytes): (Unicode.Scalar, [UInt8]) =
                switch value {
                case .null: ("n", [])
                case .integer(let number): ("i", SQLValue.bytes(UInt64(bitPattern: number)))
                case .real(let number): ("r", SQLValue.bytes(number.bitPattern))
                case .text(let text): ("t", Array(text.utf8))
                case .blob(let bytes): ("b", bytes)
                }
            output.append(UInt8(ascii: kind))
            output += SQLValue.bytes(UInt64(bytes.count))
            output += bytes
        }
        return .blob(output)
    }

    /// Returns the values of such a list, as far as it can be read.
    static func values(_ list: [UInt8]) -> [SQLValue] {
        var values: [SQLValue] = []
        var rest = list[...]
        while rest.count >= 9 {
            let count = SQLValue.number(rest.dropFirst().prefix(8))
            let kind = rest[rest.startIndex]
            rest = rest.dropFirst(9)
            guard count <= UInt64(rest.count) else { break }
            let bytes = rest.prefix(Int(count))
            rest = rest.dropFirst(Int(count))
            switch Unicode.Scalar(kind) {
            case "i": values.append(.integer(Int64(bitPattern: SQLValue.number(bytes))))
            case "r": values.append(.real(Double(bitPattern: SQLValue.number(bytes))))
            case "t": values.append(.text(String(decoding: bytes, as: UTF8.self)))
            case "b": values.append(.blob(Array(bytes)))
            default: values.append(.null)
            }
        }
        return values
    }
}
