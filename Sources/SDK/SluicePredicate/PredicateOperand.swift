internal import SluiceCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The meaning of a part of a predicate during translation.
indirect enum PredicateOperand {
    /// The record.
    case record
    /// A part of the record without a column, by its key path and those of parts of optionals; a part of it may have a
    /// column.
    case path([AnyKeyPath])
    /// A part of the record that is a column, with its key paths.
    case column(PropertyName, [AnyKeyPath])
    /// A constant, or a value captured from outside.
    case value(Any)
    /// The result of operators and functions. Null if a necessary operand is null.
    case expression(QueryExpression)
    /// A condition on an optional: it has no value at all if the second condition holds.
    case optional(QueryExpression, isNull: QueryExpression)
    /// `??`.
    case coalesced(PredicateOperand, default: PredicateOperand)
    /// A range, each bound if there is one.
    case range(lower: PredicateOperand?, upper: PredicateOperand?, includesUpper: Bool)
}

/// An expression of a `#Predicate` that queries can express.
protocol TranslatableExpression {
    func operand(_ translator: PredicateTranslator) throws(SluiceError) -> PredicateOperand
}

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

/// Reports the parts of a predicate that queries cannot express.
enum PredicateRefusal {
    /// The names in Swift of the constructs that `#Predicate` supports and queries do not.
    private static let constructs = [
        "Conditional": "a choice (?: or if)",
        "ConditionalCast": "as?", "ForceCast": "as!", "TypeCheck": "is",
        "SequenceContainsWhere": "contains(where:)", "SequenceAllSatisfy": "allSatisfy(_:)",
        "SequenceMaximum": "max()", "SequenceMinimum": "min()", "Filter": "filter(_:)",
        "CollectionIndexSubscript": "an element of a collection", "CollectionRangeSubscript": "a part of a collection",
        "DictionaryKeySubscript": "an element of a dictionary",
        "DictionaryKeyDefaultValueSubscript": "an element of a dictionary",
        "StringContainsRegex": "a regular expression",
        "PredicateEvaluate": "another predicate's evaluate(_:); give both to the query, one `where` each",
        "ExpressionEvaluate": "an #Expression's evaluate(_:)",
        "StringLocalizedStandardContains": "localizedStandardContains(_:), which depends on a locale",
        "StringLocalizedCompare": "localizedCompare(_:), which depends on a locale",
        "StringCaseInsensitiveCompare": "caseInsensitiveCompare(_:)",
    ]

    /// Returns the refusal of a type of expressions.
    static func error(of type: Any.Type) -> SluiceError {
        // `PredicateExpressions.Filter<…>`, with or without its module.
        let path = String(describing: type).prefix { $0 != "<" }
        let name = path.split(separator: ".").last.map(String.init) ?? String(path)
        return error(constructs[name] ?? "PredicateExpressions.\(name)")
    }

    /// Returns the refusal of a key path that is not the record's.
    static func error(of path: AnyKeyPath) -> SluiceError {
        // Swift knows no names of computed properties.
        let description = String(describing: path)
        guard description.contains("<computed") else { return error(description) }
        return error("a computed property of \(type(of: path).rootType)")
    }

    static func error(_ construct: String) -> SluiceError {
        SluiceError(.invalidQuery, "a query cannot say what the predicate says with \(construct)")
    }
}
