/// The operators of queries. Every query engine calls these, or computes provably the same.
package enum QueryOperators {
    /// Returns the result of `eq`: null equals null. Values of different kinds are not equal, but a string beside a
    /// date, a time of day or a GUID is read as one. Never null.
    package static func equal(_ left: QueryValue, _ right: QueryValue) -> Bool {
        if left.isNull && right.isNull { return true }
        return order(left, right) == 0
    }

    /// Returns the order of two values (-1, 0 or 1), or nil where they have none: with null, with an object or array,
    /// and between different kinds. A string beside a date, a time of day or a GUID is read as one.
    package static func order(_ left: QueryValue, _ right: QueryValue) -> Int? {
        switch (left, right) {
        case (.integer(let a), .integer(let b)): a < b ? -1 : a > b ? 1 : 0
        case (.integer(let a), .real(let b)): JSON.Number.order(a, b)
        case (.real(let a), .integer(let b)): -JSON.Number.order(b, a)
        case (.real(let a), .real(let b)): a < b ? -1 : a > b ? 1 : 0
        case (.bool(let a), .bool(let b)): a == b ? 0 : b ? -1 : 1
        case (.string(let a), .string(let b)): order(a, b)
        case (.date, .date), (.date, .string), (.string, .date):
            if let a = left.timestamp, let b = right.timestamp { a < b ? -1 : a > b ? 1 : 0 } else { nil }
        case (.time, .time), (.time, .string), (.string, .time):
            if let a = left.timeOfDay, let b = right.timeOfDay { a < b ? -1 : a > b ? 1 : 0 } else { nil }
        case (.guid, .guid), (.guid, .string), (.string, .guid):
            if let a = left.guid, let b = right.guid { order(a, b) } else { nil }
        case (.duration, .duration), (.duration, .string), (.string, .duration):
            if let a = left.duration, let b = right.duration { a < b ? -1 : a > b ? 1 : 0 } else { nil }
        default: nil
        }
    }

    /// Returns the result of `in`: whether the value equals one of those. Never null.
    package static func isMember(_ value: QueryValue, of values: [QueryValue]) -> Bool {
        values.contains { equal(value, $0) }
    }

    /// Returns the order of two strings by code point.
    static func order(_ left: String, _ right: String) -> Int {
        if left.utf8.elementsEqual(right.utf8) { return 0 }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
    }

    /// Returns the result of a comparison. Never null.
    package static func compare(
        _ operation: QueryExpression.BinaryOperator, _ left: QueryValue, _ right: QueryValue
    ) -> Bool {
        switch operation {
        case .eq: return equal(left, right)
        case .ne: return !equal(left, right)
        default: break
        }
        guard let order = order(left, right) else { return false }
        switch operation {
        case .gt: return order > 0
        case .ge: return order >= 0
        case .lt: return order < 0
        case .le: return order <= 0
        default: return false
        }
    }

    /// Returns the sort order of two values: null, then false and true, numbers, strings and dates, and last objects
    /// and arrays, which are all equal here.
    package static func sortOrder(_ left: QueryValue, _ right: QueryValue) -> Int {
        let ranks = (rank(left), rank(right))
        if ranks.0 != ranks.1 { return ranks.0 < ranks.1 ? -1 : 1 }
        return order(left, right) ?? 0
    }

    /// Returns the rank of a value's kind in sorting.
    package static func rank(_ value: QueryValue) -> Int64 {
        switch value {
        case .null: 0
        case .bool: 1
        case .integer, .real: 2
        case .string, .date, .time, .guid, .duration: 3
        case .point, .other: 4
        }
    }

    /// Returns the result of arithmetic. Null, a value that is not a number, and division by zero make it null. Two
    /// integers have an integer result (`div` and `mod` truncate towards zero), or a double if it is beyond `Int64`.
    package static func arithmetic(
        _ operation: QueryExpression.BinaryOperator, _ left: QueryValue, _ right: QueryValue
    ) -> QueryValue {
        if case .integer(let a) = left, case .integer(let b) = right, operation != .divby {
            if b == 0 && (operation == .div || operation == .mod) { return .null }
            if operation == .mod && b == -1 { return .integer(0) }
            let (value, overflow) =
                switch operation {
                case .add: a.addingReportingOverflow(b)
                case .sub: a.subtractingReportingOverflow(b)
                case .mul: a.multipliedReportingOverflow(by: b)
                case .div: a.dividedReportingOverflow(by: b)
                case .mod: a.remainderReportingOverflow(dividingBy: b)
                default: (0, true)
                }
            if !overflow { return .integer(value) }
        }
        guard let a = double(left), let b = double(right) else { return times(operation, left, right) }
        switch operation {
        case .add: return QueryValue(real: a + b)
        case .sub: return QueryValue(real: a - b)
        case .mul: return QueryValue(real: a * b)
        case .div, .divby: return b == 0 ? .null : QueryValue(real: a / b)
        case .mod: return b == 0 ? .null : QueryValue(real: a.truncatingRemainder(dividingBy: b))
        default: return .null
        }
    }

    /// Returns the result of arithmetic with dates and durations; null beyond their ranges.
    private static func times(
        _ operation: QueryExpression.BinaryOperator, _ left: QueryValue, _ right: QueryValue
    ) -> QueryValue {
        switch (operation, left, right) {
        case (.add, .duration(let a), .duration(let b)): return sum(a, b).map(QueryValue.duration) ?? .null
        case (.sub, .duration(let a), .duration(let b)):
            return b == .min ? .null : sum(a, -b).map(QueryValue.duration) ?? .null
        case (.add, _, .duration(let length)): return moment(left.timestamp, length)
        case (.sub, _, .duration(let length)): return length == .min ? .null : moment(left.timestamp, -length)
        case (.sub, .date, _), (.sub, _, .date):
            guard let later = left.timestamp, let earlier = right.timestamp else { return .null }
            return .duration(later.ticks - earlier.ticks)
        case (.mul, .duration(let length), _): return scaled(length, double(right))
        case (.mul, _, .duration(let length)): return scaled(length, double(left))
        case (.div, .duration(let length), _), (.divby, .duration(let length), _):
            return scaled(length, double(right).flatMap { $0 == 0 ? nil : 1 / $0 })
        default: return .null
        }
    }

    private static func sum(_ a: Int64, _ b: Int64) -> Int64? {
        let (sum, isBeyond) = a.addingReportingOverflow(b)
        return isBeyond ? nil : sum
    }

    private static func moment(_ start: Timestamp?, _ length: Int64) -> QueryValue {
        guard let start, let ticks = sum(start.ticks, length) else { return .null }
        let moment = Timestamp(ticks: ticks)
        return moment.ticks == ticks ? .date(moment) : .null
    }

    private static func scaled(_ length: Int64, _ factor: Double?) -> QueryValue {
        guard let factor, let ticks = Int64(exactly: (Double(length) * factor).rounded()) else { return .null }
        return .duration(ticks)
    }

    /// Returns the result of `has`: whether the value of an enumeration, a text of members' names or a number, has all
    /// those flags. Null where the two are not of one of these kinds.
    package static func has(_ value: QueryValue, _ flags: QueryValue) -> QueryValue {
        switch (value, flags) {
        case (.string(let names), .string(let wanted)):
            let names = members(names)
            return .bool(members(wanted).allSatisfy(names.contains))
        case (.integer(let bits), .integer(let wanted)): return .bool(bits & wanted == wanted)
        case (.integer(let bits), .string(let text)):
            return Int64(text).map { .bool(bits & $0 == $0) } ?? .null
        default: return .null
        }
    }

    private static func members(_ text: String) -> [[UInt8]] {
        text.utf8.split(separator: UInt8(ascii: ",")).map { part in
            Array(part.drop { $0 == UInt8(ascii: " ") }.reversed().drop { $0 == UInt8(ascii: " ") }.reversed())
        }
    }

    /// Returns the number with its sign changed; null for any other value.
    package static func negate(_ value: QueryValue) -> QueryValue {
        switch value {
        case .duration(let length): length == .min ? .null : .duration(-length)
        case .integer(let number): number == .min ? .real(0x1p63) : .integer(-number)
        case .real(let number): .real(-number)
        default: .null
        }
    }

    private static func double(_ value: QueryValue) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: nil
        }
    }
}
