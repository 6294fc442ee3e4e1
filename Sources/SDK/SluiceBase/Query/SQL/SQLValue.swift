/// A value that is bound to an SQL statement, or that an SQL function takes or gives.
package enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

extension SQLValue {
    /// What a declared column of that type holds for a record's property: null where it is null, absent or of another
    /// type, so that queries see in SQL what they see in the record.
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

    // A value whose kind is known only when the statement runs travels so: null, numbers and strings as they are; a
    // blob of one byte for the rest, 0 and 1 for false and true, 2 for objects and arrays; a date as a 3 and its ticks
    // in 8 bytes, a time of day as a 4 and the same, a GUID as a 5 and its text, a place as a 6 and its longitude
    // and latitude in 8 bytes each, and a duration as a 7 and its ticks in 8 bytes.

    /// The value in the form that tells its kind.
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

    /// The value that the form which tells its kind stands for.
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
