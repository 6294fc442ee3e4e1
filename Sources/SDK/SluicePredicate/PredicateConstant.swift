internal import SluiceCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Converts Swift values to constants of queries.
enum PredicateConstant {
    /// - Throws: ``SluiceError`` of code `invalidQuery` for a value that cannot be a constant.
    static func literal(_ value: Any) throws(SluiceError) -> TableQuery.Literal {
        switch value {
        case let value as Bool: return .bool(value)
        case let value as any BinaryInteger: return try number(String(value))
        case let value as Double: return try number(value)
        // By its own digits: 1.3 and not 1.2999999523162842.
        case let value as Float: return try number(Double(value.description) ?? .nan)
        case let value as Decimal: return try number(value.description)
        case let value as String: return .string(value)
        case let value as Substring: return .string(String(value))
        case let value as Character: return .string(String(value))
        case let value as Date:
            guard let time = value.timestamp else { throw PredicateRefusal.error("a date outside the years 1 to 9999") }
            return .date(time)
        case let value as Timestamp: return .date(value)
        case let value as UUID: return .guid(value.uuidString.lowercased())
        case let value as GeographyPoint: return .point(value)
        // In the form of records.
        case let value as URL: return .string(value.absoluteString)
        case let value as Data: return .string(value.base64EncodedString())
        case let value as any OptionalValue:
            guard let wrapped = value.wrappedValue else { return .null }
            return try literal(wrapped)
        case let value as any RawRepresentable: return try literal(value.rawValue)
        default: throw PredicateRefusal.error("a constant of type \(type(of: value))")
        }
    }

    private static func number(_ text: String) throws(SluiceError) -> TableQuery.Literal {
        guard let number = JSON.Number(text: text) else { throw PredicateRefusal.error("the number \(text)") }
        return .number(number)
    }

    private static func number(_ value: Double) throws(SluiceError) -> TableQuery.Literal {
        guard let number = JSON.Number(value) else { throw PredicateRefusal.error("the number \(value)") }
        return .number(number)
    }
}

/// An optional of any wrapped type.
protocol OptionalValue {
    var wrappedValue: Any? { get }
}

extension Optional: OptionalValue {
    var wrappedValue: Any? { map { $0 } }
}
