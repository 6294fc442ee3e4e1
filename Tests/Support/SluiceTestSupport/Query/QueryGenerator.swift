internal import Foundation
package import SluiceCore
internal import SluiceTesting

/// Makes queries whose types agree, and records for them, from a seed: a store that answers them as `TableQuery.Evaluator`
/// does gives queries their one meaning.
package struct QueryGenerator {
    /// The table that the queries are about. Its records have undeclared properties too.
    package static let schema = TableSchema(
        "things",
        columns: [
            .init("name", .string), .init("count", .integer), .init("weight", .real), .init("done", .boolean),
            .init("made", .date), .init("tags", .json),
        ])

    private var random: SeededGenerator
    /// Names that no column is declared for.
    private let undeclared: [PropertyName] = ["free", "odd name", "it's", "größe", "not", "_x0041_"]

    /// A generator whose queries and records follow from `seed` alone.
    package init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    /// A filter, nested so deep.
    package mutating func condition(_ depth: Int) -> QueryExpression {
        if depth == 0 { return pick([.column("done"), .literal(.bool(true)), free()]) }
        switch Int.random(in: 0..<13, using: &random) {
        case 11, 12: return pathCondition(depth - 1)
        case 8: return membership(depth - 1)
        case 9: return .binary(comparison(), pick([text(depth - 1), free()]), .literal(pick([time(), guid(), day()])))
        case 10: return .binary(comparison(), .call(.distance, [pick([.column("tags"), free()]), point()]), number(0))
        case 0: return .unary(.not, condition(depth - 1))
        case 1, 2: return .binary(pick([.and, .or]), condition(depth - 1), condition(depth - 1))
        case 3: return .call(pick([.contains, .startswith, .endswith]), [text(depth - 1), text(depth - 1)])
        case 4: return .binary(comparison(), number(depth - 1), number(depth - 1))
        case 5: return .binary(comparison(), text(depth - 1), text(depth - 1))
        case 6: return .binary(comparison(), pick([.column("made"), free()]), date())
        default: return .binary(comparison(), pick([condition(depth - 1), free(), .literal(.null)]), free())
        }
    }

    /// Whether a value is in a list of constants that it can be compared with.
    private mutating func membership(_ depth: Int) -> QueryExpression {
        let kind = Int.random(in: 0..<5, using: &random)
        let operand: QueryExpression =
            switch kind {
            case 0: number(depth)
            case 1: text(depth)
            case 2: .column("made")
            case 3: condition(depth)
            default: free()
            }
        let literals = (0..<Int.random(in: 1...4, using: &random)).map { _ -> TableQuery.Literal in
            if Int.random(in: 0..<8, using: &random) == 0 { return .null }
            return switch kind == 4 ? Int.random(in: 0..<4, using: &random) : kind {
            case 0: .number(pick([JSON.Number(integer()), JSON.Number(double()) ?? JSON.Number(0)]))
            case 1: pick([.string(string()), .string(string()), time(), guid()])
            case 2: pick([.date(timestamp()), day(), .string(string())])
            default: .bool(Bool.random(using: &random))
            }
        }
        return .membership(operand, literals)
    }

    /// A record with that id. Some of its values are not of their column's type, and some properties are absent.
    package mutating func record(_ id: String) -> JSON {
        var record: JSON = ["id": JSON(id)]
        for name in ["name", "count", "weight", "done", "made", "tags"] + undeclared
        where Int.random(in: 0..<4, using: &random) > 0 {
            record[name] = value(for: name)
        }
        for name in Self.nested where below(3) > 0 { record[name] = nestedValue() }
        return record
    }

    private mutating func value(for name: PropertyName) -> JSON {
        // Now and then a value that the column's type does not allow.
        switch Int.random(in: 0..<8, using: &random) == 0 ? "free" : name {
        case "name": JSON(string())
        case "count": JSON(integer())
        case "weight": JSON(double())
        case "done": JSON(Bool.random(using: &random))
        case "made": JSON(pick([timestamp().description, "2013-01-01", "no date"]))
        case "tags": pick([["a", "b"], ["type": "Point", "coordinates": [13.4, 52.5]], ["type": "Point"]])
        default:
            pick([
                JSON(string()), JSON(integer()), JSON(double()), JSON(Bool.random(using: &random)), .null, ["a"],
                JSON(timestamp().description), ["type": "Point", "coordinates": [JSON(double()), 0]],
            ])
        }
    }

    private mutating func number(_ depth: Int) -> QueryExpression {
        if depth <= 0 {
            return pick([
                .column("count"), .column("weight"), free(), .literal(.number(JSON.Number(integer()))),
                .literal(.number(JSON.Number(double()) ?? JSON.Number(0))), .literal(.null),
            ])
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .unary(.negate, number(depth - 1))
        case 1: return .call(pick([.floor, .ceiling, .round]), [number(depth - 1)])
        case 2: return .call(.length, [text(depth - 1)])
        case 3: return .call(.indexof, [text(depth - 1), text(depth - 1)])
        case 4: return .call(pick([.day, .month, .year, .hour, .minute, .second]), [pick([.column("made"), date()])])
        case 5: return .call(pick([.hour, .minute, .second]), [pick([text(depth - 1), .literal(time())])])
        default: return .binary(pick([.add, .sub, .mul, .div, .divby, .mod]), number(depth - 1), number(depth - 1))
        }
    }

    private mutating func text(_ depth: Int) -> QueryExpression {
        if depth <= 0 { return pick([.column("name"), .column("id"), free(), .literal(.string(string()))]) }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return .call(pick([.tolower, .toupper, .trim]), [text(depth - 1)])
        case 1: return .call(.concat, [text(depth - 1), text(depth - 1)])
        case 2:
            let start = QueryExpression.literal(.number(JSON.Number(Int64.random(in: -1...4, using: &random))))
            return .call(.substring, [text(depth - 1), start] + pick([[], [number(0)]]))
        default: return .call(.replace, [text(depth - 1), text(0), text(0)])
        }
    }

    /// A query: a filter nested no deeper than that, an order, and a page.
    package mutating func query(_ depth: Int) -> TableQuery {
        var query = TableQuery(Self.schema.name)
        if Int.random(in: 0..<12, using: &random) > 0 {
            query.filter = condition(Int.random(in: 1...max(1, depth), using: &random))
        }
        query.order = order()
        if Int.random(in: 0..<4, using: &random) == 0 { query.skip = Int.random(in: 0...4, using: &random) }
        if Int.random(in: 0..<4, using: &random) == 0 { query.top = Int.random(in: 0...6, using: &random) }
        return query
    }

    /// Up to three keys to sort by.
    package mutating func order() -> [TableQuery.SortKey] {
        let names: [PropertyName] = ["name", "count", "weight", "done", "made", "tags", "id"] + undeclared
        return (0..<Int.random(in: 0...3, using: &random)).map { _ in
            let isDescending = Bool.random(using: &random)
            if below(6) == 0 { return TableQuery.SortKey(expression: sortExpression(), descending: isDescending) }
            return TableQuery.SortKey(pick(names), descending: isDescending)
        }
    }

    private mutating func free() -> QueryExpression { .column(pick(undeclared)) }
    private mutating func date() -> QueryExpression { .literal(.date(timestamp())) }
    mutating func comparison() -> QueryExpression.BinaryOperator { pick([.eq, .ne, .gt, .ge, .lt, .le]) }

    private mutating func day() -> TableQuery.Literal { .day(timestamp().beginningOfDay) }
    private mutating func time() -> TableQuery.Literal {
        .timeOfDay(Timestamp(timeOfDay: pick(["12:34:56", "00:00", "23:59:59.9999999", "09:05:00.25"])) ?? timestamp())
    }
    private mutating func guid() -> TableQuery.Literal {
        .guid(pick(["0f8fad5b-d9cb-469f-a165-70867728950e", "0F8FAD5B-D9CB-469F-A165-70867728950E"]))
    }
    private mutating func point() -> QueryExpression {
        let degrees = [0, 13.4, -90, 52.5, 180]
        let point = GeographyPoint(longitude: pick(degrees), latitude: pick(degrees.dropLast()))
        return .literal(point.map(TableQuery.Literal.point) ?? .null)
    }

    private mutating func timestamp() -> Timestamp {
        pick([
            Timestamp(ticks: Int64.random(in: 0...20_000_000_000_000_000, using: &random)),
            Timestamp("2013-01-01T00:00:00Z") ?? Timestamp(ticks: 0),
        ])
    }

    private mutating func integer() -> Int64 {
        pick([0, 1, -1, 2, 7, .max, .min, 1 << 53, (1 << 53) + 1, Int64.random(in: -100...100, using: &random)])
    }

    private mutating func double() -> Double {
        pick([0, 0.5, -0.5, 1.5, 2, 1e300, -1e300, 0x1p53, 0x1p63, Double.random(in: -10...10, using: &random)])
    }

    /// U+0000, which PostgreSQL has in no text: the generator leaves it out where the tests run on that.
    private static let zero = ProcessInfo.processInfo.environment["SLUICE_TEST_POSTGRES"] == nil ? ["\0"] : []

    private mutating func string() -> String {
        if Int.random(in: 0..<10, using: &random) == 0 {
            return pick([
                "12:34:56", "12:34:56.000", "00:00", "0F8FAD5B-D9CB-469F-A165-70867728950E", timestamp().description,
                "0f8fad5b-d9cb-469f-a165-70867728950e",
            ])
        }
        let parts =
            ["", "a", "A", "ab", " ", "'", "é", "e\u{301}", "ß", "İ", "日本", "😀", "%", "_", "2013-01-01"]
            + Self.zero
        return (0..<Int.random(in: 0...3, using: &random)).map { _ in pick(parts) }.joined()
    }
}
