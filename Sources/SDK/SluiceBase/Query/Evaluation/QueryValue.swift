/// What a part of a query amounts to for one record: the values that queries know, on which every place that answers
/// queries agrees.
package enum QueryValue: Sendable {
    /// No value: null in the record, absent, or the result of what has none.
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number that is no `Int64`; never NaN.
    case real(Double)
    case string(String)
    case date(Timestamp)
    /// A time of day, on 1970-01-01. Records hold values of this kind and of the next two as strings.
    case time(Timestamp)
    /// A length of time in ticks of 100 ns.
    case duration(Int64)
    /// A GUID in small letters.
    case guid(String)
    /// An object that is a place; like ``other`` except for its distance from others.
    case point(GeographyPoint)
    /// An object or an array: there, but neither equal to anything nor in any order.
    case other

    /// A property that no column is declared for: what it is, is what its JSON is.
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

    /// A property with a declared column: a value that is not of the column's type counts as null.
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

    /// A number: as an integer if it was written as one, else as its nearest double.
    package init(_ number: JSONNumber) {
        switch number.storage {
        case .int(let value): self = .integer(value)
        case .double, .text: self = .real(number.double)
        }
    }

    /// A constant.
    package init(_ literal: QueryLiteral) {
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

    /// A result of arithmetic; what is not a number is null.
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

    /// The integer that the value is, if it is one, as an index or a length.
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

    /// The time of day that the value is or, being a string, tells.
    var timeOfDay: Timestamp? {
        switch self {
        case .time(let value): value
        case .string(let text): Timestamp(timeOfDay: text)
        default: nil
        }
    }

    /// The length of time that the value is or, being a string, tells.
    var duration: Int64? {
        switch self {
        case .duration(let value): value
        case .string(let text): QueryDuration.ticks(text)
        default: nil
        }
    }

    /// The GUID that the value is or, being a string, tells; in small letters.
    var guid: String? {
        switch self {
        case .guid(let value): value
        case .string(let text): text.isGUID ? text.lowercased() : nil
        default: nil
        }
    }

    /// The point in time that the value is or, being a string, tells.
    var timestamp: Timestamp? {
        switch self {
        case .date(let value): value
        case .string(let text): Timestamp(text)
        default: nil
        }
    }
}
