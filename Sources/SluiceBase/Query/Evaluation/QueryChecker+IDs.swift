extension QueryChecker {
    /// The expression with numbers that are held against a record's id as texts, which ids are: those of a service whose keys
    /// are numbers are asked for by the constant `5` as well as by `'5'`. Their order is not that of numbers, and is left.
    func comparingIDsAsTexts(_ expression: QueryExpression) -> QueryExpression {
        guard case .record = item else { return expression }
        return switch expression {
        case .binary(let comparison, .column("id"), .literal(let literal)) where comparison == .eq || comparison == .ne:
            .binary(comparison, .column("id"), .literal(Self.text(literal)))
        case .binary(let comparison, .literal(let literal), .column("id")) where comparison == .eq || comparison == .ne:
            .binary(comparison, .literal(Self.text(literal)), .column("id"))
        case .membership(.column("id"), let literals): .membership(.column("id"), literals.map(Self.text))
        default: expression
        }
    }

    private static func text(_ literal: QueryLiteral) -> QueryLiteral {
        if case .number(let number) = literal { .string(number.description) } else { literal }
    }
}
