/// A function that a connection must register to run the SQL of ``SQLQueryPrinter``.
package struct SQLFunction: Sendable {
    /// The name, the same for different numbers of arguments.
    package let name: String
    /// The number of arguments; -1 for any number.
    package let argumentCount: Int
    /// The result; it depends on the arguments alone.
    package let body: @Sendable ([SQLValue]) -> SQLValue
}

extension QueryFunctions {
    /// Returns the SQL name of a query function or operator.
    static func sqlName(_ name: String) -> String {
        "sluice_" + String(name.map { $0 == "." ? "_" : $0 })
    }

    /// Every function that a printed query may call: register each, as deterministic.
    package static let sqlFunctions: [SQLFunction] = conversions + comparisons + arithmetic + calls + [program, row]

    private static let conversions: [SQLFunction] = [
        // The property of the JSON object of properties without a column, in the self-describing form.
        SQLFunction(name: sqlName("property"), argumentCount: 2) { arguments in
            guard case .text(let object) = arguments[0], case .text(let name) = arguments[1] else { return .null }
            let value = JSONProperty.value(of: name, in: object)
            // Places are sorted like any other object.
            return SQLValue(value.point == nil ? value : .other)
        },
        // The same, but with places, for the distance from others.
        SQLFunction(name: sqlName("place"), argumentCount: 2) { arguments in
            guard case .text(let object) = arguments[0], case .text(let name) = arguments[1] else { return .null }
            return SQLValue(JSONProperty.value(of: name, in: object))
        },
        // From the self-describing form to 1, 0 or null.
        SQLFunction(name: sqlName("bool"), argumentCount: 1) { arguments in
            arguments[0].queryValue.bool.map { .integer($0 ? 1 : 0) } ?? .null
        },
        // From 1, 0 or null, from a column's ISO text, and from a column's JSON, to the self-describing form.
        SQLFunction(name: sqlName("any_bool"), argumentCount: 1) { arguments in
            if case .integer(let value) = arguments[0] { SQLValue(.bool(value != 0)) } else { .null }
        },
        SQLFunction(name: sqlName("any_date"), argumentCount: 1) { arguments in
            arguments[0].queryValue.timestamp.map { SQLValue(.date($0)) } ?? .null
        },
        SQLFunction(name: sqlName("any_json"), argumentCount: 1) { arguments in
            guard case .text(let text) = arguments[0] else { return .null }
            // Only a distance reads the contents of an object, and only a place has one.
            guard text.hasPrefix("{"), text.utf8.count < 1024, let json = try? JSON(parsing: text) else {
                return SQLValue(.other)
            }
            return SQLValue(QueryValue(json))
        },
        // A column's ISO text as ticks; null if it is not a date.
        SQLFunction(name: sqlName("ticks"), argumentCount: 1) { arguments in
            arguments[0].queryValue.timestamp.map { .integer($0.ticks) } ?? .null
        },
        // The rank of the value's kind in sorting.
        SQLFunction(name: sqlName("rank"), argumentCount: 1) { arguments in
            .integer(QueryOperators.rank(arguments[0].queryValue))
        },
    ]

    private static let comparisons: [SQLFunction] =
        [QueryExpression.BinaryOperator.eq, .ne, .gt, .ge, .lt, .le].map {
            operation in
            SQLFunction(name: sqlName(operation.rawValue), argumentCount: 2) { arguments in
                .integer(QueryOperators.compare(operation, arguments[0].queryValue, arguments[1].queryValue) ? 1 : 0)
            }
        } + [
            SQLFunction(name: sqlName("in"), argumentCount: 2) { arguments in
                guard case .blob(let list) = arguments[1] else { return .null }
                let values = SQLValueList.values(list).map(\.queryValue)
                return .integer(QueryOperators.isMember(arguments[0].queryValue, of: values) ? 1 : 0)
            }
        ]

    private static let arithmetic: [SQLFunction] =
        [QueryExpression.BinaryOperator.add, .sub, .mul, .div, .divby, .mod].map { operation in
            SQLFunction(name: sqlName(operation.rawValue), argumentCount: 2) { arguments in
                SQLValue(QueryOperators.arithmetic(operation, arguments[0].queryValue, arguments[1].queryValue))
            }
        } + [
            SQLFunction(name: sqlName("has"), argumentCount: 2) { arguments in
                QueryOperators.has(arguments[0].queryValue, arguments[1].queryValue).bool
                    .map { .integer($0 ? 1 : 0) } ?? .null
            },
            SQLFunction(name: sqlName("negate"), argumentCount: 1) { arguments in
                SQLValue(QueryOperators.negate(arguments[0].queryValue))
            },
        ]

    /// Evaluates an expression without an SQL form, for the record with those columns.
    private static let program = SQLFunction(name: sqlName("eval"), argumentCount: -1) { arguments in
        guard case .text(let text)? = arguments.first else { return .null }
        let value = QueryProgram.value(of: text, arguments.dropFirst())
        return SQLValue(value.point == nil ? value : .other)
    }

    /// Builds a record of another table as JSON.
    private static let row = SQLFunction(name: sqlName("row"), argumentCount: -1) { arguments in
        guard case .text(let text)? = arguments.first else { return .null }
        return QueryRow.text(of: text, arguments.dropFirst()).map { .text($0) } ?? .null
    }

    private static let calls: [SQLFunction] = TableQuery.Function.allCases.flatMap { function in
        argumentCounts(function).map { count in
            SQLFunction(name: sqlName(function.rawValue), argumentCount: count) { arguments in
                let result = value(of: function, arguments.map(\.queryValue))
                // A function with a true or false result has a known kind.
                if case .bool(let value) = result { return .integer(value ? 1 : 0) }
                return SQLValue(result)
            }
        }
    }
}

/// Reads one member of a JSON object's text without building the rest.
enum JSONProperty {
    static func value(of name: String, in object: String) -> QueryValue { QueryValue(json(of: name, in: object)) }

    static func json(of name: String, in object: String) -> JSON? {
        var object = object
        return object.withUTF8 { bytes -> JSON? in
            guard let tape = try? JSONTape(bytes), tape.tokens.first?.kind == .object else { return nil }
            var index = 1
            while index + 1 < tape.tokens.count {
                let isWanted = tape.text(tape.tokens[index], in: bytes).utf8.elementsEqual(name.utf8)
                if isWanted { return JSON(tape, at: index + 1, in: bytes) }
                index = Int(tape.tokens[index + 1].next)
            }
            return nil
        }
    }
}
