internal import SluiceBase

/// Writes a filter's text for one version, each constant in the literal form of the property beside it.
struct ServiceFilterPrinter: Sendable {
    let set: EntitySet
    let version: ODataVersion

    /// Returns the text, not percent-encoded.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for an expression that the version does not have, and for a
    ///   constant that is not of its property's type.
    func text(of expression: QueryExpression) throws(SluiceError) -> String {
        switch expression {
        case .binary(let operation, let left, let right) where operation == .and || operation == .or:
            return "(\(try text(of: left)) \(operation.rawValue) \(try text(of: right)))"
        case .binary(let operation, let left, let right):
            return "(\(try operand(left, beside: right)) \(operation.rawValue) \(try operand(right, beside: left)))"
        case .unary(.not, let operand): return "not (\(try text(of: operand)))"
        case .unary(.negate, let operand): return "-(\(try text(of: operand)))"
        case .column(let name): return try column(name)
        case .literal(let literal): return try self.literal(literal, type: nil)
        case .membership(let operand, let literals):
            // `in` came with 4.01; every service reads a chain of comparisons.
            var terms: [String] = []
            for literal in literals { terms.append(try text(of: .binary(.eq, operand, .literal(literal)))) }
            return terms.isEmpty ? "(1 eq 0)" : "(\(terms.joined(separator: " or ")))"
        case .call(let function, let arguments): return try call(function, arguments)
        case .path(let path): return try self.path(path)
        case .list, .object, .choice, .typed:
            throw SluiceError(.unsupported, "the service is not asked for \(expression.odata(.v4))", table: set.name)
        }
    }

    /// Returns a path of properties, in v4 perhaps with a collection function at its end.
    private func path(_ path: TableQuery.Path) throws(SluiceError) -> String {
        var parts: [String] = []
        switch path.root {
        case .record: break
        case .it: if version == .v4 { parts.append("$it") }
        case .variable(let name): parts.append(try column(name))
        default: throw unsupported(path)
        }
        for step in path.steps {
            switch step {
            case .property(let name): parts.append(try column(name))
            case .count(nil, nil) where version == .v4: parts.append("$count")
            case .any(nil) where version == .v4: parts.append("any()")
            case .any(let lambda?) where version == .v4:
                parts.append("any(\(try column(lambda.variable)):\(try text(of: lambda.condition)))")
            case .all(let lambda) where version == .v4:
                parts.append("all(\(try column(lambda.variable)):\(try text(of: lambda.condition)))")
            default: throw unsupported(path)
            }
        }
        return parts.joined(separator: "/")
    }

    private func unsupported(_ path: TableQuery.Path) -> SluiceError {
        SluiceError(
            .unsupported, "the service is not asked for \(QueryExpression.path(path).odata(.v4))", table: set.name)
    }

    private func operand(_ expression: QueryExpression, beside other: QueryExpression) throws(SluiceError) -> String {
        guard case .literal(let literal) = expression else { return try text(of: expression) }
        var type: EdmPrimitive?
        if case .column(let name) = other { type = set.types[name] }
        return try self.literal(literal, type: type)
    }

    private func call(_ function: TableQuery.Function, _ arguments: [QueryExpression]) throws(SluiceError) -> String {
        var texts: [String] = []
        for argument in arguments { texts.append(try text(of: argument)) }
        switch (function, version) {
        case (.contains, .v2): return "substringof(\(texts.reversed().joined(separator: ",")))"
        case (.distance, .v2): throw refusal("OData v2 has no function \(function.rawValue)")
        default: return "\(function.rawValue)(\(texts.joined(separator: ",")))"
        }
    }

    private func column(_ name: PropertyName) throws(SluiceError) -> String {
        let scalars = name.text.unicodeScalars
        let isName = scalars.first.map { $0.properties.isAlphabetic || $0 == "_" } ?? false
        guard isName,
            scalars.allSatisfy({ $0.properties.isAlphabetic || $0 == "_" || $0.properties.numericType != nil })
        else { throw refusal("\(name.text) is no name that OData allows") }
        return name.text
    }

    private func literal(_ literal: TableQuery.Literal, type: EdmPrimitive?) throws(SluiceError) -> String {
        if let type, let plain = literal.plain(as: type) {
            guard let text = EdmLiteral.text(of: plain, type: type, version: version) else {
                throw refusal("a constant is no \(type.rawValue)")
            }
            return text
        }
        switch literal {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .string(let text): return EdmLiteral.quoted(text)
        case .number(let number): return number.description
        case .date(let date):
            let plain = EdmLiteral.text(of: date)
            return version == .v2 ? "datetimeoffset'\(plain)'" : plain
        case .day(let day):
            let plain = String(day.text(fractionDigits: 0).prefix(10))
            return version == .v2 ? "datetime'\(plain)T00:00:00'" : plain
        case .timeOfDay(let time):
            guard version == .v4 else { throw refusal("OData v2 compares no time of day with a property of no type") }
            return time.timeOfDayText
        case .guid(let text): return version == .v2 ? "guid'\(text)'" : text
        case .enumeration(let type, let value) where version == .v4: return "\(type)\(EdmLiteral.quoted(value))"
        case .duration where version == .v4, .infinity where version == .v4, .binary where version == .v4:
            return QueryExpression.literal(literal).odata(.v4)
        case .point, .shape, .enumeration, .duration, .infinity, .binary, .notANumber:
            throw refusal("there are no constants like \(QueryExpression.literal(literal).odata(.v4)) for this service")
        }
    }

    private func refusal(_ reason: String) -> SluiceError { SluiceError(.invalidQuery, reason, table: set.name) }
}
