/// A predicate or a value of a query: one tree for every source and every target.
///
/// The tree is read from OData text (`QueryExpression(odata:)`), evaluated in memory, and printed as SQL and as
/// OData; the same tree means the same rows everywhere.
public indirect enum QueryExpression: Sendable, Hashable {
    /// A constant.
    case literal(TableQuery.Literal)
    /// The value of the record's property of that name; null where the record has none.
    case column(PropertyName)
    /// An operator on one value.
    case unary(UnaryOperator, QueryExpression)
    /// An operator between two values.
    case binary(BinaryOperator, QueryExpression, QueryExpression)
    /// A function's value.
    case call(TableQuery.Function, [QueryExpression])
    /// Whether a value equals one of the constants, by the rules of `eq`.
    case membership(QueryExpression, [TableQuery.Literal])
    /// The value at a path of more than one name: `Address/Street`, `Items/any(x:x/Price gt 5)`, `Items/$count`.
    case path(TableQuery.Path)
    /// A list of values: `[1,Size,'x']`.
    case list([QueryExpression])
    /// An object of values: `{"Street":'x',"Number":Size}`.
    case object([TableQuery.Argument])
    /// The value of the first true condition, and null if none is true: `case(X gt 0:1,true:0)`.
    case choice([TableQuery.Choice])
    /// A value as one of a named type, or a test for that type. Without a value it applies to the record itself.
    case typed(TypeOperator, QueryExpression?, String)

    /// An operator on one value.
    public enum UnaryOperator: String, Sendable, Hashable {
        /// Logical not.
        case not
        /// The number with its sign changed.
        case negate
    }

    /// An operator between two values, spelled as in OData.
    public enum BinaryOperator: String, Sendable, Hashable, CaseIterable {
        /// Logic, comparison and arithmetic. `divby` keeps the fraction also between integers.
        case or, and, eq, ne, gt, ge, lt, le, add, sub, mul, div, mod, divby
        /// Whether an enumeration's value has all of some flags.
        case has
        /// Whether a value equals an element of a list or of a collection. A list of constants is
        /// ``QueryExpression/membership(_:_:)``.
        case isIn = "in"
    }

    /// An operator on a value and the name of a type.
    public enum TypeOperator: String, Sendable, Hashable {
        /// The value as one of the type.
        case cast
        /// Whether the value is of the type.
        case isof
    }
}

extension TableQuery {
    /// A constant in a query.
    public enum Literal: Sendable, Hashable {
        /// No value.
        case null
        /// `true` or `false`.
        case bool(Bool)
        /// A number.
        case number(JSON.Number)
        /// A text.
        case string(String)
        /// A point in time.
        case date(Timestamp)
        /// A day: the point in time at which it begins in UTC.
        case day(Timestamp)
        /// A time of day: the point in time with that time on 1970-01-01 in UTC.
        case timeOfDay(Timestamp)
        /// A GUID, as its text.
        case guid(String)
        /// A place on the Earth.
        case point(GeographyPoint)
        /// A length of time, in ticks of 100 ns.
        case duration(Int64)
        /// A value of an enumeration: the type's name, and the members' names or numbers with commas between them.
        case enumeration(type: String, value: String)
        /// Bytes, as their base64 text.
        case binary(String)
        /// A shape on the Earth or in a plane that is not a ``point(_:)``: `geography` or `geometry`, and its text.
        case shape(kind: String, text: String)
        /// A number beyond all others: plus or minus infinity.
        case infinity(isNegative: Bool)
        /// NaN.
        case notANumber
    }
}

extension TableQuery {
    /// A function that queries may call, spelled as in OData.
    public enum Function: String, Sendable, Hashable, CaseIterable {
        /// On strings. `contains(whole, part)` is v3's `substringof(part, whole)`.
        case contains, startswith, endswith, indexof, length, substring, replace, tolower, toupper, trim, concat
        /// Whether a regular expression matches a part of a string.
        case matchesPattern
        /// On dates, in UTC.
        case day, month, year, hour, minute, second, fractionalseconds, date, time, totaloffsetminutes
        /// On durations.
        case totalseconds
        /// Points in time.
        case now, mindatetime, maxdatetime
        /// On collections.
        case hassubset, hassubsequence
        /// On numbers. `round` rounds halves away from zero.
        case floor, ceiling, round
        /// Between two places, in metres.
        case distance = "geo.distance"
        /// A line's length, and whether a place is in an area.
        case lineLength = "geo.length"
        case intersects = "geo.intersects"
    }
}

extension TableQuery.Literal {
    /// Returns an id as a constant for comparisons: a text or an integer.
    package static func id(_ id: RecordID) -> TableQuery.Literal {
        switch id {
        case .string(let text): .string(text)
        case .integer(let number): .number(JSON.Number(number))
        }
    }
}

extension QueryExpression {
    /// Returns the expression with each of its direct children replaced by `change`.
    package func mappingChildren(_ change: (QueryExpression) -> QueryExpression) -> QueryExpression {
        switch self {
        case .literal, .column: self
        case .unary(let operation, let operand): .unary(operation, change(operand))
        case .binary(let operation, let left, let right): .binary(operation, change(left), change(right))
        case .call(let function, let arguments): .call(function, arguments.map(change))
        case .membership(let operand, let literals): .membership(change(operand), literals)
        case .list(let elements): .list(elements.map(change))
        case .object(let members): .object(members.map { $0.mapping(change) })
        case .choice(let choices):
            .choice(choices.map { TableQuery.Choice(when: change($0.condition), change($0.value)) })
        case .typed(let operation, let operand, let type): .typed(operation, operand.map(change), type)
        case .path(let path): .path(TableQuery.Path(path.root, path.steps.map { $0.mapping(change) }))
        }
    }

    /// The direct children of this expression.
    package var children: [QueryExpression] {
        var children: [QueryExpression] = []
        _ = mappingChildren { child in
            children.append(child)
            return child
        }
        return children
    }

    /// The names that the expression may read from the record: of its columns, and at the start of its paths.
    ///
    /// Names that refer to the elements of a collection are included.
    package var columns: Set<PropertyName> {
        var columns = children.reduce(into: Set<PropertyName>()) { $0.formUnion($1.columns) }
        switch self {
        case .column(let name): columns.insert(name)
        case .path(let path) where path.root == .record || path.root == .it:
            if case .property(let name)? = path.steps.first { columns.insert(name) }
        default: break
        }
        return columns
    }

    /// Returns the expression with a constant in the place of each `now()`.
    ///
    /// A query with `now()` is refused as `unsupported` everywhere, so the caller replaces it by the present time
    /// first.
    public func at(_ now: Timestamp) -> QueryExpression {
        if case .call(.now, _) = self { return .literal(.date(now)) }
        return mappingChildren { $0.at(now) }
    }

    /// Whether the expression refers to the element `$this` of its surroundings.
    var mentionsThis: Bool {
        if case .path(let path) = self, path.root == .this { return true }
        return children.contains { $0.mentionsThis }
    }
}

extension TableQuery.Argument {
    fileprivate func mapping(_ change: (QueryExpression) -> QueryExpression) -> TableQuery.Argument {
        TableQuery.Argument(name, change(value))
    }
}

extension TableQuery.Path.Step {
    fileprivate func mapping(_ change: (QueryExpression) -> QueryExpression) -> TableQuery.Path.Step {
        switch self {
        case .property, .type, .annotation: self
        case .key(let values): .key(values.map { $0.mapping(change) })
        case .function(let name, let values): .function(name, values.map { $0.mapping(change) })
        case .filter(let condition): .filter(change(condition))
        case .count(let condition, let search): .count(condition.map(change), search)
        case .any(let lambda): .any(lambda.map { TableQuery.Lambda($0.variable, change($0.condition)) })
        case .all(let lambda): .all(TableQuery.Lambda(lambda.variable, change(lambda.condition)))
        }
    }
}
