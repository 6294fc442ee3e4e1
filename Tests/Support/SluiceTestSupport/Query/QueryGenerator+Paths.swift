internal import SluiceCore

// Paths into what a record holds, and what else only the evaluator runs.
extension QueryGenerator {
    /// Names that no column is declared for, of properties that often hold objects and collections.
    static let nested: [PropertyName] = ["address", "lines", "odd list"]

    /// A value for one of those: objects and lists that have the same few names, and now and then something else.
    mutating func nestedValue() -> JSON {
        switch below(6) {
        case 0: JSON(pick(["a", "", "3"]))
        case 1: .null
        case 2: JSON((0..<below(4)).map { _ in scalar() })
        case 3: ["city": scalar(), "lines": JSON((0..<below(3)).map { _ in element() })]
        default: JSON((0..<below(4)).map { _ in element() })
        }
    }

    private mutating func element() -> JSON {
        ["price": scalar(), "name": scalar(), "tags": JSON((0..<below(3)).map { _ in scalar() })]
    }

    private mutating func scalar() -> JSON {
        pick([1, 2, -1, 2.5, "a", "A", "ab", true, false, .null, "PT1H", "2013-01-01T00:00:00Z", "Red,Blue"])
    }

    private mutating func constant() -> QueryExpression {
        .literal(pick([.number(JSON.Number(1)), .number(JSON.Number(2)), .string("a"), .bool(true), .null]))
    }

    /// A condition about what is inside of properties.
    mutating func pathCondition(_ depth: Int) -> QueryExpression {
        switch below(12) {
        case 0: .binary(comparison(), property(), constant())
        case 1: .binary(comparison(), count(depth), .literal(.number(JSON.Number(Int64(below(4))))))
        case 2: .binary(.isIn, pick([constant(), property(), .column("name")]), pick([property(), collection()]))
        case 3: .binary(.isIn, property(), .list([constant(), property(), constant()]))
        case 4:
            .binary(
                comparison(),
                .choice([
                    TableQuery.Choice(when: condition(min(depth, 1)), constant()),
                    TableQuery.Choice(when: property(), property()),
                ]), constant())
        case 5: .call(.matchesPattern, [pick([.column("name"), property()]), .literal(.string(pattern()))])
        case 6: .binary(.has, pick([property(), .column("name")]), flags())
        case 7: time()
        default: quantified(depth)
        }
    }

    private mutating func flags() -> QueryExpression {
        .literal(
            pick([
                .enumeration(type: "T.Color", value: "Red"), .enumeration(type: "T.Color", value: "Blue,Red"),
                .enumeration(type: "T.Color", value: "1"), .number(JSON.Number(2)),
            ]))
    }

    private mutating func pattern() -> String {
        pick(["^a", "a$", "^(a|b)+$", "[^a-c]", "\\d{2}", "^.?$", "\\ba", "", "^\\s*$"])
    }

    private mutating func time() -> QueryExpression {
        let moment: QueryExpression = pick([.column("made"), property()])
        let length = QueryExpression.literal(.duration(pick([0, 36_000_000_000, -864_000_000_000, .max])))
        let date = Timestamp("2013-01-01T00:00:00Z").map(TableQuery.Literal.date) ?? .null
        switch below(5) {
        case 0: return .binary(comparison(), .binary(pick([.add, .sub]), moment, length), .literal(date))
        case 1: return .binary(comparison(), .binary(.sub, moment, .literal(date)), length)
        case 2: return .binary(comparison(), .call(.date, [moment]), .literal(date))
        case 3:
            return .binary(
                comparison(), .call(.totalseconds, [pick([length, property()])]), .literal(.number(JSON.Number(3600))))
        default:
            return .binary(
                comparison(), .call(pick([.fractionalseconds, .hour]), [moment]), .literal(.number(JSON.Number(0))))
        }
    }

    private mutating func property() -> QueryExpression {
        .path(
            TableQuery.Path(
                pick([.record, .it]),
                [
                    .property(pick(Self.nested + ["tags"])),
                    .property(pick(["city", "name", "coordinates", "odd name"])),
                ]
            ))
    }

    private mutating func collection() -> QueryExpression {
        let steps = collectionSteps()
        if steps.count == 1, case .property(let name) = steps[0] { return .column(name) }
        return .path(TableQuery.Path(.record, steps))
    }

    private mutating func collectionSteps() -> [TableQuery.Path.Step] {
        pick([
            [.property("address"), .property("lines")], [.property("lines")], [.property("odd list")],
            [.property("tags")], [.property("tags"), .property("coordinates")],
            [.property("lines"), .property("name")],
        ])
    }

    private mutating func count(_ depth: Int) -> QueryExpression {
        var steps = collectionSteps()
        if below(3) == 0 { steps.append(.filter(elementCondition())) }
        steps.append(.count(below(3) == 0 ? elementCondition() : nil, below(6) == 0 ? .phrase("a") : nil))
        return .path(TableQuery.Path(.record, steps))
    }

    /// A condition in which names are about the element.
    private mutating func elementCondition() -> QueryExpression {
        pick([
            .binary(comparison(), .column("price"), constant()),
            .binary(.eq, .path(TableQuery.Path(.this, [])), constant()),
            .binary(comparison(), .column("name"), .path(TableQuery.Path(.it, [.property("name")]))),
        ])
    }

    private mutating func quantified(_ depth: Int) -> QueryExpression {
        let steps = collectionSteps()
        let lambda = TableQuery.Lambda("x", lambdaCondition("x", max(0, depth)))
        let last: TableQuery.Path.Step =
            switch below(5) {
            case 0: .any(nil)
            case 1: .all(lambda)
            default: .any(lambda)
            }
        return .path(TableQuery.Path(pick([.record, .it]), steps + [last]))
    }

    private mutating func lambdaCondition(_ variable: PropertyName, _ depth: Int) -> QueryExpression {
        let itself = QueryExpression.path(TableQuery.Path(.variable(variable), []))
        let member = QueryExpression.path(
            TableQuery.Path(.variable(variable), [.property(pick(["price", "name", "tags"]))]))
        switch below(6) {
        case 0: return .binary(comparison(), itself, constant())
        case 1: return .binary(comparison(), member, .column(pick(["count", "name", "x"])))
        case 2: return .unary(.not, .binary(comparison(), member, constant()))
        case 3 where depth > 0:
            let inner = TableQuery.Lambda("y", .binary(.or, lambdaCondition("y", 0), lambdaCondition(variable, 0)))
            return .path(TableQuery.Path(.variable(variable), [.property("tags"), .any(inner)]))
        case 4: return .call(.contains, [member, .literal(.string("a"))])
        default: return .binary(comparison(), member, constant())
        }
    }

    /// Something to sort by that is no property.
    mutating func sortExpression() -> QueryExpression {
        switch below(4) {
        case 0: count(1)
        case 1: .binary(comparison(), .column("count"), .column("weight"))
        case 2: .call(.length, [.column("name")])
        default: property()
        }
    }
}
