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
        var smaller = expression.children
        switch expression {
        case .literal(let literal): smaller += simpler(literal).map(QueryExpression.literal)
        case .membership(let operand, let literals) where literals.count > 1:
            smaller += literals.indices.map { .membership(operand, without($0, literals)) }
        case .membership(let operand, let literals):
            for (index, literal) in literals.enumerated() {
                smaller += simpler(literal).map { simple in
                    var changed = literals
                    changed[index] = simple
                    return .membership(operand, changed)
                }
            }
        case .binary(.isIn, let operand, .list(let elements)):
            smaller += elements.indices.map { .binary(.isIn, operand, .list(without($0, elements))) }
        case .choice(let choices) where choices.count > 1:
            smaller += choices.indices.map { .choice(without($0, choices)) }
        case .path(let path) where path.steps.count > 1:
            smaller += path.steps.indices.map { .path(TableQuery.Path(path.root, without($0, path.steps))) }
        default: break
        }
        // With one of the expressions in it smaller.
        for (index, child) in expression.children.enumerated() {
            for simple in self.smaller(child) {
                var next = -1
                smaller.append(
                    expression.mappingChildren { other in
                        next += 1
                        return next == index ? simple : other
                    })
            }
        }
        return smaller
    }

    private static func without<Element>(_ index: Int, _ list: [Element]) -> [Element] {
        var list = list
        list.remove(at: index)
        return list
    }

    private static func simpler(_ literal: TableQuery.Literal) -> [TableQuery.Literal] {
        switch literal {
        case .null, .bool, .guid, .point, .enumeration, .binary, .shape, .infinity, .notANumber: []
        case .duration(let ticks): ticks == 0 ? [] : [.duration(0)]
        case .number(let number): simpler(number).map(TableQuery.Literal.number)
        case .string(let text): simpler(text).map(TableQuery.Literal.string)
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
        case .array: [.null] + (value.elements ?? []).indices.map { JSON(without($0, value.elements ?? [])) }
        case .object:
            [.null]
                + value.names.map { name in
                    var smaller = value
                    smaller[name] = nil
                    return smaller
                }
        }
    }

    private static func simpler(_ number: JSON.Number) -> [JSON.Number] {
        switch number.storage {
        case .int(let value): value == 0 ? [] : value == 1 ? [JSON.Number(0)] : [JSON.Number(0), JSON.Number(1)]
        case .double(let value):
            [0.0, 0.5].filter { $0.magnitude < value.magnitude || value < 0 }.compactMap { JSON.Number($0) }
        case .text: [JSON.Number(0)]
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
