/// The query options of an OData request: the part after the `?`. (OData v4.01 part 2, 5.)
///
/// ```swift
/// let options = try ODataOptions("$filter=Price gt 5&$expand=Supplier($select=Name)&$top=10")
/// ```
///
/// The options inside an `$expand` or a `$select` have the same type. Absent options are nil or empty.
public struct ODataOptions: Sendable, Hashable {
    /// `$filter`.
    public var filter: QueryExpression?
    /// `$search`.
    public var search: QuerySearch?
    /// `$compute`: properties that are added to each record.
    public var compute: [ODataOptions.ComputedProperty] = []
    /// `$apply`: one transformation after another.
    public var apply: [QueryTransformation] = []
    /// `$orderby`.
    public var order: [TableQuery.SortKey] = []
    /// `$select`; empty means everything.
    public var select: [ODataOptions.SelectItem] = []
    /// `$expand`: the related records to return with each record.
    public var expand: [ODataOptions.ExpandItem] = []
    /// `$top`.
    public var top: Int?
    /// `$skip`.
    public var skip: Int?
    /// `$count`, and `$inlinecount` of the older versions.
    public var count: Bool?
    /// `$levels` inside an `$expand`: the number of repetitions.
    public var levels: Levels?
    /// `$index`: the position in an ordered collection; negative from its end.
    public var index: Int?
    /// `$format`, unchanged.
    public var format: String?
    /// `$skiptoken`, unchanged.
    public var skipToken: String?
    /// `$deltatoken`, unchanged.
    public var deltaToken: String?
    /// `$schemaversion`, unchanged.
    public var schemaVersion: String?
    /// `$id`, unchanged.
    public var id: String?
    /// Parameter aliases without their `@`. Options already contain the values of their aliases.
    public var aliases: [PropertyName: QueryExpression] = [:]
    /// Options outside of OData: names and values, decoded.
    public var custom: [Custom] = []

    /// Creates empty options.
    public init() {}

    /// A query option of the service's own.
    public struct Custom: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value; empty if there is none.
        public var value: String
    }

    /// The number of repetitions of an expansion.
    public enum Levels: Sendable, Hashable {
        /// That many times.
        case times(Int)
        /// As many times as the service can.
        case max
    }
}

extension ODataOptions {
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
}

extension ODataOptions {
    /// A property to return, with options for its value: `Address/Street`, `Sizes($top=2)`, `*`.
    public struct SelectItem: Sendable, Hashable {
        /// The path to it from the record.
        public var path: [ODataOptions.SelectStep]
        /// The options of a collection, or the selection from an object.
        public var options = ODataOptions()

        /// Selects the property of that name.
        public init(_ name: PropertyName) { path = [.property(name)] }

        /// Selects the value at the path's end.
        public init(path: [ODataOptions.SelectStep], options: ODataOptions = ODataOptions()) {
            self.path = path
            self.options = options
        }

        /// The property's name, if the path is that name alone.
        public var name: PropertyName? { path.count == 1 ? path[0].property : nil }
    }
}

extension ODataOptions {
    /// Related records to return with each record: `Supplier`, `Items($filter=Price gt 5;$expand=Product)`, `Items/$ref`.
    public struct ExpandItem: Sendable, Hashable {
        /// The path to the navigation property from the record.
        public var path: [ODataOptions.SelectStep]
        /// The returned part of the related records.
        public var part = Part.records
        /// The options for the related records.
        public var options = ODataOptions()

        /// The returned part of the related records.
        public enum Part: Sendable, Hashable {
            /// The records.
            case records
            /// Their ids: `/$ref`.
            case references
            /// Their number: `/$count`.
            case count
        }

        /// Expands the records along the navigation property of that name.
        public init(_ name: PropertyName, options: ODataOptions = ODataOptions()) {
            path = [.property(name)]
            self.options = options
        }

        /// Expands the records at the path's end.
        public init(path: [ODataOptions.SelectStep], part: Part = .records, options: ODataOptions = ODataOptions()) {
            self.path = path
            self.part = part
            self.options = options
        }

        /// The navigation property's name, if the path is that name alone.
        public var name: PropertyName? { path.count == 1 ? path[0].property : nil }
    }
}

extension ODataOptions {
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
}
