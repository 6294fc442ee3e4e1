/// A way from a record, or from something that was named, to a value or to several: one step after another.
///
/// `Address/Street` is two properties from the record; `Items/any(x:x/Price gt Limit)` asks of each item, which is `x`
/// there, while `Limit` is still the record's.
public struct QueryPath: Sendable, Hashable {
    /// Where the path begins.
    public var root: Root
    /// The steps from there.
    public var steps: [Step]

    /// A path.
    public init(_ root: Root = .record, _ steps: [Step]) {
        self.root = root
        self.steps = steps
    }

    /// Where a path begins.
    public enum Root: Sendable, Hashable {
        /// The record that is asked about, unnamed; after `/$filter(` and in `/$count($filter=` the element.
        case record
        /// `$it`: the record that is asked about, wherever it is written.
        case it
        /// `$this`: the element that is asked about.
        case this
        /// `$root`: the service; the first step is an entity set, a singleton or a function.
        case service
        /// The variable of an `any` or `all` around it.
        case variable(PropertyName)
        /// A parameter alias whose value was not given, without its `@`.
        case alias(PropertyName)
    }

    /// A step from a value to another.
    public indirect enum Step: Sendable, Hashable {
        /// To a property, or along a navigation property.
        case property(PropertyName)
        /// To the same value as one of a derived type, by its name.
        case type(String)
        /// To the entity of a collection with that key; a single unnamed value is the key.
        case key([QueryArgument])
        /// To those elements of a collection for which the condition is true.
        case filter(QueryExpression)
        /// To the number of elements: of those that pass the filter and the search, where they are given.
        case count(QueryExpression?, QuerySearch?)
        /// To whether the condition is true for an element; without one, whether there is any.
        case any(QueryLambda?)
        /// To whether the condition is true for each element.
        case all(QueryLambda)
        /// To the result of a function of the service.
        case function(String, [QueryArgument])
        /// To an annotation, without its `@`: `Measures.Currency`, `Measures.Currency#Reporting`.
        case annotation(String)
    }
}

/// A condition about an element, which is called by the variable's name in it.
public struct QueryLambda: Sendable, Hashable {
    /// The variable.
    public var variable: PropertyName
    /// The condition.
    public var condition: QueryExpression

    /// A condition.
    public init(_ variable: PropertyName, _ condition: QueryExpression) {
        self.variable = variable
        self.condition = condition
    }
}

/// A value with a name or without: of a key, of a function's call, or of an object.
public struct QueryArgument: Sendable, Hashable {
    /// The name, if there is one.
    public var name: String?
    /// The value.
    public var value: QueryExpression

    /// A value.
    public init(_ name: String?, _ value: QueryExpression) {
        self.name = name
        self.value = value
    }
}

/// A value and when it is chosen.
public struct QueryChoice: Sendable, Hashable {
    /// When.
    public var condition: QueryExpression
    /// The value.
    public var value: QueryExpression

    /// A value.
    public init(when condition: QueryExpression, _ value: QueryExpression) {
        self.condition = condition
        self.value = value
    }
}
