/// The type of an expression's value, as far as it is known without a record.
enum QueryType: String, Sendable {
    /// Always null.
    case null
    /// One of these, or null.
    case bool, number, string, date, time, guid, duration
    /// An object or array, or null.
    case json
    /// Anything: a property without a declared column.
    case any

    init(_ type: TableSchema.ColumnType) {
        switch type {
        case .string: self = .string
        case .integer, .real: self = .number
        case .boolean: self = .bool
        case .date: self = .date
        case .json: self = .json
        }
    }

    init(_ value: QueryValue) {
        switch value {
        case .null: self = .null
        case .bool: self = .bool
        case .integer, .real: self = .number
        case .string: self = .string
        case .date: self = .date
        case .time: self = .time
        case .guid: self = .guid
        case .duration: self = .duration
        case .point, .other: self = .json
        }
    }

    /// Whether SQL compares two values of this type as queries do.
    var isComparedBySQL: Bool { self == .bool || self == .number || self == .string || self == .date }

    /// Returns whether a value of this type may be one of `type`.
    func mayBe(_ type: QueryType) -> Bool { self == type || self == .null || self == .any }

    /// Returns whether values of the two types may be compared at all.
    func isComparable(with other: QueryType) -> Bool {
        mayBe(other) || other.mayBe(self) || (self == .string && other.isToldByStrings)
            || (other == .string && isToldByStrings)
    }

    /// Whether a string beside a value of this type is read as one.
    private var isToldByStrings: Bool {
        self == .date || self == .time || self == .guid || self == .duration
    }

    /// Whether arithmetic with this type computes points and lengths of time.
    var isTime: Bool { self == .date || self == .duration }
}
