internal import SluiceBase

/// Searches a record for which formulas are true: for every property, a value that lies in all the formulas' sets.
/// Properties do not depend on each other, so there is such a record if no property's sets exclude each other.
struct CoverageSearch {
    /// The result of a search.
    enum Result {
        /// No record.
        case none
        /// A record may have these values.
        case some(String)
        /// There were more cases than the search examines.
        case tooManyCases
    }

    private let schema: TableSchema?
    /// The number of times that the values of a property may still be narrowed.
    private var stepsLeft = 100_000
    private var isCut = false

    init(schema: TableSchema?) { self.schema = schema }

    /// One case: the known facts about each property and each unknown condition.
    private struct Case {
        var columns: [PropertyName: ValueSet] = [:]
        var unknown: [CoverageFormula.Condition: CoverageFormula.Truths] = [:]
    }

    static func search(_ formulas: [CoverageFormula], schema: TableSchema?) -> Result {
        var search = CoverageSearch(schema: schema)
        if let found = search.find(formulas, Case()) { return .some(search.text(found)) }
        return search.isCut ? .tooManyCases : .none
    }

    /// Returns a case in which all are true, narrowed from the given one.
    private mutating func find(_ formulas: [CoverageFormula], _ start: Case) -> Case? {
        guard stepsLeft > 0 else {
            isCut = true
            return nil
        }
        var known = start
        var waiting = formulas
        var choices: [[CoverageFormula]] = []
        while let next = waiting.popLast() {
            switch next {
            case .and(let parts): waiting += parts
            case .or(let parts) where parts.count == 1: waiting.append(parts[0])
            case .or(let parts): choices.append(parts)
            default: if !narrow(&known, next) { return nil }
            }
        }
        // Choices with one possibility are examined first: they narrow the case most.
        var open: [[CoverageFormula]] = []
        for choice in choices {
            var possible: [CoverageFormula] = []
            for part in choice {
                var copy = known
                if narrow(&copy, part) { possible.append(part) }
            }
            if possible.isEmpty { return nil }
            if possible.contains(where: { if case .truth(true) = $0 { true } else { false } }) { continue }
            open.append(possible)
        }
        guard let index = open.indices.min(by: { open[$0].count < open[$1].count }) else { return known }
        let choice = open.remove(at: index)
        let rest = open.map(CoverageFormula.or)
        for part in choice {
            if let found = find(rest + [part], known) { return found }
        }
        return nil
    }

    /// Adds the fact of a formula about one property; false if it contradicts the case.
    private mutating func narrow(_ known: inout Case, _ formula: CoverageFormula) -> Bool {
        stepsLeft -= 1
        switch formula {
        case .truth(let value): return value
        case .column(let name, let set):
            let type = name == "id" ? TableSchema.ColumnType.string : schema?.column(name)?.type
            let both = (known.columns[name] ?? .all(of: type)).intersection(set)
            known.columns[name] = both
            return !both.isEmpty(of: type)
        case .unknown(let expression, let truths):
            let both = (known.unknown[expression] ?? .all).intersection(truths)
            known.unknown[expression] = both
            return !both.isEmpty
        case .and(let parts):
            for part in parts where !narrow(&known, part) { return false }
            return true
        case .or(let parts): return !parts.isEmpty
        }
    }

    private func text(_ found: Case) -> String {
        let columns = found.columns.sorted { $0.key.text < $1.key.text }.map { "\($0.key) is \($0.value.sample)" }
        let unknown = found.unknown.map {
            "\($0.key.text) is \($0.value.contains(.isTrue) ? "true" : "not true")"
        }
        let parts = columns + unknown.sorted()
        return parts.isEmpty ? "nothing is said" : parts.joined(separator: " and ")
    }
}

extension ValueSet {
    /// A value of the set as text, or its description.
    fileprivate var sample: String {
        if let value = bools.min(by: { !$0 && $1 }) { return value ? "true" : "false" }
        if let piece = numbers.pieces.first { return Self.range(piece.from, piece.to) { $0.text } }
        if let piece = texts.pieces.first, !moments.isEmpty || hasOtherTexts {
            return Self.range(piece.from, piece.to) { "'\(String(decoding: $0.bytes, as: UTF8.self))'" }
        }
        if let piece = moments.pieces.first {
            return Self.range(piece.from, piece.to) { Timestamp(ticks: $0).description }
        }
        return hasNull ? "null" : hasOther ? "an object or a list" : "something else"
    }

    private static func range<Point>(
        _ from: LineSet<Point>.Cut?, _ to: LineSet<Point>.Cut?, _ text: (Point) -> String
    ) -> String {
        if let from, let to, from.point == to.point { return text(from.point) }
        if let from, !from.isAfter { return text(from.point) }
        let low = from.map { "more than \(text($0.point))" }
        let high = to.map { "\($0.isAfter ? "at most" : "less than") \(text($0.point))" }
        let parts = [low, high].compactMap { $0 }
        return parts.isEmpty ? "anything" : parts.joined(separator: " and ")
    }
}

extension ValueSet.Number {
    fileprivate var text: String {
        switch value {
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        default: "a number"
        }
    }
}
