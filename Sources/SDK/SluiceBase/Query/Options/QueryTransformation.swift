/// A step of `$apply`: what is made of a set of records. (OData Extension for Data Aggregation 4.0, 3.)
public indirect enum QueryTransformation: Sendable, Hashable {
    /// The set itself.
    case identity
    /// The records for which the condition is true.
    case filter(QueryExpression)
    /// The records that match.
    case search(QuerySearch)
    /// One record for the set.
    case aggregate([QueryAggregate])
    /// One record for each group of records that agree in those properties, with what the transformations make of the
    /// group.
    case group([[PropertyName]], [QueryTransformation])
    /// A property more for each record.
    case compute([ComputedProperty])
    /// The records in an order.
    case order([Query.SortKey])
    /// The first so many.
    case top(Int)
    /// All but the first so many.
    case skip(Int)
    /// What several make of the set, one after the other.
    case concat([[QueryTransformation]])
    /// Another, by its name, with the text between its parentheses.
    case other(String, String)
}

/// A value of a set of records: `Amount with sum as Total`, `$count as Number`.
public struct QueryAggregate: Sendable, Hashable {
    /// What is aggregated; nil for the number of records.
    public var expression: QueryExpression?
    /// How.
    public var method: Method
    /// The property that the result has.
    public var name: PropertyName

    /// An aggregate.
    public init(_ expression: QueryExpression?, _ method: Method, as name: PropertyName) {
        self.expression = expression
        self.method = method
        self.name = name
    }

    /// How values are aggregated.
    public enum Method: Sendable, Hashable {
        /// The number of records.
        case count
        /// Of the values that are not null; null if there is none. `countDistinct` counts them.
        case sum, min, max, average, countDistinct
        /// A method of the service's own, or an aggregate that it defines.
        case other(String)
    }
}
