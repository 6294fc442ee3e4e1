/// A step of `$apply`: an operation on a set of records. (OData Extension for Data Aggregation 4.0, 3.)
public indirect enum QueryTransformation: Sendable, Hashable {
    /// The set itself.
    case identity
    /// The records for which the condition is true.
    case filter(QueryExpression)
    /// The records that match.
    case search(QuerySearch)
    /// One record for the whole set.
    case aggregate([TableQuery.Aggregate])
    /// The results of the transformations for each group of records that agree in those properties.
    case group([[PropertyName]], [QueryTransformation])
    /// Each record with further properties.
    case compute([ODataOptions.ComputedProperty])
    /// The records in an order.
    case order([TableQuery.SortKey])
    /// The first records, up to that number.
    case top(Int)
    /// All but the first records, up to that number.
    case skip(Int)
    /// The results of several sequences on the same set, one after the other.
    case concat([[QueryTransformation]])
    /// Another transformation: its name, and the text between its parentheses.
    case other(String, String)
}

extension TableQuery {
    /// A value of a set of records: `Amount with sum as Total`, `$count as Number`.
    public struct Aggregate: Sendable, Hashable {
        /// The aggregated expression; nil for the number of records.
        public var expression: QueryExpression?
        /// The aggregation method.
        public var method: Method
        /// The property of the result.
        public var name: PropertyName

        /// An aggregate.
        public init(_ expression: QueryExpression?, _ method: Method, as name: PropertyName) {
            self.expression = expression
            self.method = method
            self.name = name
        }

        /// An aggregation method.
        public enum Method: Sendable, Hashable {
            /// The number of records.
            case count
            /// Of the values other than null; null if there is none. `countDistinct` counts them.
            case sum, min, max, average, countDistinct
            /// A method or an aggregate of the service's own.
            case other(String)
        }
    }
}
