/// The value of a part of a query for one record. All query engines agree on these values.
package enum QueryValue: Sendable {
    /// No value: null in the record, absent, or a result without a value.
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number outside of `Int64`; never NaN.
    case real(Double)
    case string(String)
    case date(Timestamp)
    /// A time of day, on 1970-01-01. Records hold times of day, durations and GUIDs as strings.
    case time(Timestamp)
    /// A length of time in ticks of 100 ns.
    case duration(Int64)
    /// A GUID in small letters.
    case guid(String)
    /// An object that is a place; like ``other`` except for its distance from others.
    case point(GeographyPoint)
    /// An object or an array: a value, but neither equal to anything nor ordered.
    case other

    /// The value of a property without a declared column, typed by its JSON.
    package init(_ json: JSON?) {
        guard let json else {
            self = .null
            return
        }
        switch json.kind {
        case .null: self = .null
        case .bool: self = .bool(json.bool == true)
        case .number: self = json.number.map(QueryValue.init) ?? .null
        case .string: self = .string(json.string ?? "")
        case .object: self = GeographyPoint(json).map(QueryValue.point) ?? .other
        case .array: self = .other
        }
    }

    /// The value of a property with a declared column; null where it does not have the column's type.
    package init(_ json: JSON?, declared type: TableSchema.ColumnType) {
        switch (type, QueryValue(json)) {
        case (.string, .string(let text)): self = .string(text)
        case (.date, .string(let text)): self = Timestamp(text).map(QueryValue.date) ?? .null
        case (.integer, .integer), (.integer, .real): self = json?.int.map(QueryValue.integer) ?? .null
        case (.real, .integer(let value)): self = .real(Double(value))
        case (.real, .real(let value)): self = .real(value)
        case (.boolean, .bool(let value)): self = .bool(value)
        case (.json, .other): self = .other
        case (.json, .point(let value)): self = .point(value)
        default: self = .null
        }
    }

    /// A number: an integer if it is stored as one, otherwise its nearest double.
    package init(_ number: JSON.Number) {
        switch number.storage {
        case .int(let value): self = .integer(value)
        case .double, .text: self = .real(number.double)
        }
    }

    /// A constant.
    package init(_ literal: TableQuery.Literal) {
        switch literal {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let value): self = QueryValue(value)
        case .string(let value): self = .string(value)
        case .date(let value), .day(let value): self = .date(value)
        case .timeOfDay(let value): self = .time(value)
        case .guid(let value): self = .guid(value.lowercased())
        case .point(let value): self = .point(value)
        case .duration(let value): self = .duration(value)
        // Records hold the members' names.
        case .enumeration(_, let value): self = .string(value)
        case .infinity(let isNegative): self = .real(isNegative ? -.infinity : .infinity)
        case .binary, .shape: self = .other
        case .notANumber: self = .null
        }
    }

    /// A result of arithmetic; NaN becomes null.
    init(real: Double) { self = real.isNaN ? .null : .real(real) }

    /// The truth value, if there is one.
    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The value as an integer, for an index or a length; nil if it is not one.
    var wholeNumber: Int64? {
        switch self {
        case .integer(let value): value
        case .real(let value): Int64(exactly: value)
        default: nil
        }
    }

    var point: GeographyPoint? {
        if case .point(let value) = self { value } else { nil }
    }

    /// The time of day, from the value or its text.
    var timeOfDay: Timestamp? {
        switch self {
        case .time(let value): value
        case .string(let text): Timestamp(timeOfDay: text)
        default: nil
        }
    }

    /// The duration in ticks, from the value or its text.
    var duration: Int64? {
        switch self {
        case .duration(let value): value
        case .string(let text): QueryDuration.ticks(text)
        default: nil
        }
    }

    /// The GUID in small letters, from the value or its text.
    var guid: String? {
        switch self {
        case .guid(let value): value
        case .string(let text): text.isGUID ? text.lowercased() : nil
        default: nil
        }
    }

    /// The point in time, from the value or its text.
    var timestamp: Timestamp? {
        switch self {
        case .date(let value): value
        case .string(let text): Timestamp(text)
        default: nil
        }
    }
}
