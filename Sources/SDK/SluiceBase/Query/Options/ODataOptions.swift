/// The query options of an OData request: what the part after the `?` says. (OData v4.01 part 2, 5.)
///
/// ```swift
/// let options = try ODataOptions("$filter=Price gt 5&$expand=Supplier($select=Name)&$top=10")
/// ```
///
/// The options inside an `$expand` or a `$select` are the same type. What is not given is nil or empty.
public struct ODataOptions: Sendable, Hashable {
    /// `$filter`.
    public var filter: QueryExpression?
    /// `$search`.
    public var search: QuerySearch?
    /// `$compute`: properties that are added to each record.
    public var compute: [ComputedProperty] = []
    /// `$apply`: one transformation after another.
    public var apply: [QueryTransformation] = []
    /// `$orderby`.
    public var order: [Query.SortKey] = []
    /// `$select`; empty means everything.
    public var select: [SelectItem] = []
    /// `$expand`: what else is given with each record.
    public var expand: [ExpandItem] = []
    /// `$top`.
    public var top: Int?
    /// `$skip`.
    public var skip: Int?
    /// `$count`, and `$inlinecount` of the older versions.
    public var count: Bool?
    /// `$levels` inside an `$expand`: how often it is repeated.
    public var levels: Levels?
    /// `$index`: where in an ordered collection; negative from its end.
    public var index: Int?
    /// `$format`, as it stands.
    public var format: String?
    /// `$skiptoken`, as it stands.
    public var skipToken: String?
    /// `$deltatoken`, as it stands.
    public var deltaToken: String?
    /// `$schemaversion`, as it stands.
    public var schemaVersion: String?
    /// `$id`, as it stands.
    public var id: String?
    /// Parameter aliases without their `@`. Where an option names one, it has its value in the place already.
    public var aliases: [PropertyName: QueryExpression] = [:]
    /// What is no option of OData: names and values, decoded.
    public var custom: [Custom] = []

    /// Nothing asked for.
    public init() {}

    /// A query option of the service's own.
    public struct Custom: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value; empty if there is none.
        public var value: String
    }

    /// How often an expansion is repeated.
    public enum Levels: Sendable, Hashable {
        /// That often.
        case times(Int)
        /// As often as the service can.
        case max
    }
}

/// A property that a request adds to each record: `Price mul Quantity as Total`.
public struct ComputedProperty: Sendable, Hashable {
    /// The value.
    public var expression: QueryExpression
    /// The property's name.
    public var name: PropertyName

    /// A property.
    public init(_ expression: QueryExpression, as name: PropertyName) {
        self.expression = expression
        self.name = name
    }
}

/// A property to give back, with what is asked of it: `Address/Street`, `Sizes($top=2)`, `*`.
public struct SelectItem: Sendable, Hashable {
    /// The way to it from the record.
    public var path: [SelectStep]
    /// What is asked of a collection, or selected of an object.
    public var options = ODataOptions()

    /// The property of that name.
    public init(_ name: PropertyName) { path = [.property(name)] }

    /// What the path leads to.
    public init(path: [SelectStep], options: ODataOptions = ODataOptions()) {
        self.path = path
        self.options = options
    }

    /// The property's name, if the path is that name alone.
    public var name: PropertyName? { path.count == 1 ? path[0].property : nil }
}

/// Related records to give with each record: `Supplier`, `Items($filter=Price gt 5;$expand=Product)`, `Items/$ref`.
public struct ExpandItem: Sendable, Hashable {
    /// The way to the navigation property from the record.
    public var path: [SelectStep]
    /// What of the related records is given.
    public var part = Part.records
    /// What is asked of the related records.
    public var options = ODataOptions()

    /// What of the related records is given.
    public enum Part: Sendable, Hashable {
        /// The records.
        case records
        /// Their ids: `/$ref`.
        case references
        /// Their number: `/$count`.
        case count
    }

    /// The records along the navigation property of that name.
    public init(_ name: PropertyName, options: ODataOptions = ODataOptions()) {
        path = [.property(name)]
        self.options = options
    }

    /// What the path leads to.
    public init(path: [SelectStep], part: Part = .records, options: ODataOptions = ODataOptions()) {
        self.path = path
        self.part = part
        self.options = options
    }

    /// The navigation property's name, if the path is that name alone.
    public var name: PropertyName? { path.count == 1 ? path[0].property : nil }
}

/// A step of a path in `$select` or `$expand`.
public enum SelectStep: Sendable, Hashable {
    /// A property, or a navigation property.
    case property(PropertyName)
    /// `*`: every property, or every navigation property.
    case all
    /// The same value as one of a derived type; also an action or a function by its qualified name.
    case type(String)
    /// A function with the names of its parameters: `Namespace.Function(a,b)`.
    case function(String, [String])
    /// Every action and function of a namespace: `Namespace.*`.
    case operations(String)
    /// An annotation, without its `@`.
    case annotation(String)
    /// `$value`: the media stream.
    case stream

    var property: PropertyName? {
        if case .property(let name) = self { name } else { nil }
    }
}
