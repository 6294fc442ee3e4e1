/// Which records of a table, in which order, and which part of each.
///
/// ```swift
/// var query = Query("movies")
/// query.filter = try QueryExpression(odata: "year ge 1990 and rating eq 'R'")
/// query.order = [Query.SortKey("title")]
/// query.top = 10
/// ```
public struct Query: Sendable, Hashable {
    /// One key to sort by.
    public struct SortKey: Sendable, Hashable {
        /// What to sort by.
        public var expression: QueryExpression
        /// Whether the largest comes first.
        public var descending: Bool

        /// Sorts by the property of that name.
        public init(_ column: PropertyName, descending: Bool = false) {
            self.init(expression: .column(column), descending: descending)
        }

        /// Sorts by what the expression amounts to.
        public init(expression: QueryExpression, descending: Bool = false) {
            self.expression = expression
            self.descending = descending
        }

        /// The property's name; nil if the key is not a property alone.
        public var column: PropertyName? {
            if case .column(let name) = expression { name } else { nil }
        }
    }

    /// The table's name.
    public var table: String
    /// Which records; nil means all.
    public var filter: QueryExpression?
    /// The order; records that are equal in it come by id.
    public var order: [SortKey]
    /// How many records to leave out first.
    public var skip: Int
    /// How many records at the most; nil means all.
    public var top: Int?
    /// The properties to give back; empty means all.
    public var select: [PropertyName]
    /// Whether to count the records that match, whatever `skip` and `top` are.
    public var includesCount: Bool
    /// Whether records that are marked as deleted are among them. A local store holds none.
    public var includesDeleted: Bool
    /// Further parameters for the server, which a local store does not look at.
    public var parameters: [Parameter]
    /// The other tables, where paths follow navigation properties and a database is to run them.
    package var related: QueryRelatives?

    /// A further parameter for the server.
    public struct Parameter: Sendable, Hashable {
        /// The name; it may not begin with `$`.
        public var name: String
        /// The value, not encoded.
        public var value: String

        /// A parameter.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All records of `table`, until the properties say otherwise.
    public init(
        _ table: String, filter: QueryExpression? = nil, order: [SortKey] = [], skip: Int = 0, top: Int? = nil,
        select: [PropertyName] = [], includesCount: Bool = false, includesDeleted: Bool = false,
        parameters: [Parameter] = []
    ) {
        self.table = table
        self.filter = filter
        self.order = order
        self.skip = skip
        self.top = top
        self.select = select
        self.includesCount = includesCount
        self.includesDeleted = includesDeleted
        self.parameters = parameters
    }
}
