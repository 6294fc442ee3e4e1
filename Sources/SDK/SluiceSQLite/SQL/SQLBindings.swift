internal import SluiceCore

/// The values for a statement's parameters.
enum SQLBindings: Sendable {
    /// One for each parameter, in order.
    case positional([JSON])
    /// By the parameters' names, without the character that they begin with.
    case named([String: JSON])

    /// Binds the values.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` unless there is a value for each parameter and a parameter
    ///   for each value.
    func bind(to statement: SQLiteStatement) throws(SluiceError) {
        let count = statement.parameterCount
        switch self {
        case .positional(let values):
            guard values.count == count else {
                throw SluiceError(
                    .invalidArgument,
                    "the statement has \(count.counted("parameter")), and \(values.count.counted("value")) came with it"
                )
            }
            for (index, value) in values.enumerated() { try statement.bind(index + 1, Self.value(value)) }
        case .named(let values):
            var left = Set(values.keys)
            for index in 0..<count {
                guard let name = statement.parameterName(index + 1) else {
                    throw SluiceError(
                        .invalidArgument, "parameter \(index + 1) of the statement has no name, and the values have")
                }
                guard let value = values[name] else {
                    throw SluiceError(.invalidArgument, "the statement's parameter \(name) has no value")
                }
                left.remove(name)
                try statement.bind(index + 1, Self.value(value))
            }
            if let unknown = left.min() {
                throw SluiceError(.invalidArgument, "the statement has no parameter \(unknown)")
            }
        }
    }

    /// Returns the value in SQL: 0 or 1 for a boolean, JSON text for an array or an object, the nearest double for a
    /// number that is no exact integer or double.
    private static func value(_ json: JSON) -> SQLValue {
        switch json.kind {
        case .null: return .null
        case .bool: return .integer(json.bool == true ? 1 : 0)
        case .number:
            if let int = json.int { return .integer(int) }
            return json.double.map { .real($0) } ?? .null
        case .string: return .text(json.string ?? "")
        case .array, .object: return .text(json.description)
        }
    }
}
