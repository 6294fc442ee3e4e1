internal import SluiceCore

/// Makes a query that fails, and its records, as small as they can be while it still fails.
package enum QueryShrinker {
    /// The smallest trial found, by taking away what is not needed, one thing after another.
    package static func shrink(
        _ trial: QueryTrial, attempts: Int = 5000, while fails: (QueryTrial) async -> Bool
    ) async -> QueryTrial {
        var least = trial
        var left = attempts
        search: while true {
            for candidate in candidates(least) {
                if left == 0 { return least }
                left -= 1
                if await fails(candidate) {
                    least = candidate
                    continue search
                }
            }
            return least
        }
    }

    /// Trials that are a little smaller, the boldest first.
    private static func candidates(_ trial: QueryTrial) -> [QueryTrial] {
        var candidates: [QueryTrial] = []
        func add(_ change: (inout QueryTrial) -> Void) {
            var smaller = trial
            change(&smaller)
            candidates.append(smaller)
        }
        let records = trial.records
        if records.count > 1 {
            let middle = records.count / 2
            add { $0.records = Array(records[..<middle]) }
            add { $0.records = Array(records[middle...]) }
        }
        for index in records.indices { add { $0.records.remove(at: index) } }
        if !trial.query.order.isEmpty { add { $0.query.order = [] } }
        if trial.query.skip != 0 { add { $0.query.skip = 0 } }
        if trial.query.top != nil { add { $0.query.top = nil } }
        for index in trial.query.order.indices { add { $0.query.order.remove(at: index) } }
        if let filter = trial.query.filter {
            add { $0.query.filter = nil }
            for smaller in self.smaller(filter) { add { $0.query.filter = smaller } }
        }
        for (index, record) in records.enumerated() {
            for (name, value) in record.members ?? [] where name != "id" {
                add { $0.records[index][name] = nil }
                for simpler in simpler(value) { add { $0.records[index][name] = simpler } }
            }
        }
        return candidates
    }

    /// Expressions with a part in the place of the whole, somewhere.
    static func smaller(_ expression: QueryExpression) -> [QueryExpression] {
        switch expression {
        case .column: []
        case .literal(let literal): simpler(literal).map(QueryExpression.literal)
        case .unary(let operation, let operand): [operand] + smaller(operand).map { .unary(operation, $0) }
        case .binary(let operation, let left, let right):
            [left, right] + smaller(left).map { .binary(operation, $0, right) }
                + smaller(right).map { .binary(operation, left, $0) }
        case .call(let function, let arguments):
            arguments
                + arguments.indices.flatMap { index in
                    smaller(arguments[index]).map { argument in
                        var changed = arguments
                        changed[index] = argument
                        return .call(function, changed)
                    }
                }
        case .membership(let operand, let literals):
            [operand] + smaller(operand).map { .membership($0, literals) }
                + (literals.count < 2
                    ? []
                    : literals.indices.map { index in
                        var fewer = literals
                        fewer.remove(at: index)
                        return .membership(operand, fewer)
                    })
                + literals.indices.flatMap { index in
                    simpler(literals[index]).map { literal in
                        var changed = literals
                        changed[index] = literal
                        return .membership(operand, changed)
                    }
                }
        }
    }

    private static func simpler(_ literal: QueryLiteral) -> [QueryLiteral] {
        switch literal {
        case .null, .bool, .guid, .point: []
        case .number(let number): simpler(number).map(QueryLiteral.number)
        case .string(let text): simpler(text).map(QueryLiteral.string)
        case .date(let date): date.ticks == 0 ? [] : [.date(Timestamp(ticks: 0))]
        case .day(let day): day.ticks == 0 ? [] : [.day(Timestamp(ticks: 0))]
        case .timeOfDay(let time): time.ticks == 0 ? [] : [.timeOfDay(Timestamp(ticks: 0))]
        }
    }

    private static func simpler(_ value: JSON) -> [JSON] {
        switch value.kind {
        case .null: []
        case .bool: [.null]
        case .number: [.null] + (value.number.map(simpler) ?? []).map { JSON($0) }
        case .string: [.null] + simpler(value.string ?? "").map { JSON($0) }
        case .array, .object: [.null]
        }
    }

    private static func simpler(_ number: JSONNumber) -> [JSONNumber] {
        switch number.storage {
        case .int(let value): value == 0 ? [] : value == 1 ? [JSONNumber(0)] : [JSONNumber(0), JSONNumber(1)]
        case .double(let value):
            [0.0, 0.5].filter { $0.magnitude < value.magnitude || value < 0 }.compactMap { JSONNumber($0) }
        case .text: [JSONNumber(0)]
        }
    }

    /// Shorter texts.
    private static func simpler(_ text: String) -> [String] {
        let scalars = Array(text.unicodeScalars)
        func joined(_ scalars: some Sequence<Unicode.Scalar>) -> String {
            var view = String.UnicodeScalarView()
            view.append(contentsOf: scalars)
            return String(view)
        }
        if scalars.isEmpty { return [] }
        return [joined(scalars.prefix(scalars.count / 2))]
            + scalars.indices.map { index in joined(scalars[..<index] + scalars[(index + 1)...]) }
    }
}
