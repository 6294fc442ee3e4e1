extension TableQuery {
    /// A path from a record, or from a named value, to one or several values, step by step.
    ///
    /// `Address/Street` is two properties from the record. `Items/any(x:x/Price gt Limit)` tests each item, named `x`
    /// there, while `Limit` is still the record's.
    public struct Path: Sendable, Hashable {
        /// The start of the path.
        public var root: Root
        /// The steps from the start.
        public var steps: [Step]

        /// A path.
        public init(_ root: Root = .record, _ steps: [Step]) {
            self.root = root
            self.steps = steps
        }

        /// The start of a path.
        public enum Root: Sendable, Hashable {
            /// The queried record, unnamed; after `/$filter(` and in `/$count($filter=` the element.
            case record
            /// `$it`: the queried record, at every position.
            case it
            /// `$this`: the current element.
            case this
            /// `$root`: the service; the first step is an entity set, a singleton or a function.
            case service
            /// The variable of a surrounding `any` or `all`.
            case variable(PropertyName)
            /// A parameter alias without a given value, without its `@`.
            case alias(PropertyName)
        }

        /// A step from a value to another.
        public indirect enum Step: Sendable, Hashable {
            /// To a property, or along a navigation property.
            case property(PropertyName)
            /// To the same value as one of a derived type, by its name.
            case type(String)
            /// To the entity of a collection with that key; a single unnamed value is the key.
            case key([TableQuery.Argument])
            /// To the elements of a collection for which the condition is true.
            case filter(QueryExpression)
            /// To the number of elements that pass the filter and the search, where they are given.
            case count(QueryExpression?, QuerySearch?)
            /// To the answer whether the condition is true for any element; without a condition, whether there is any.
            case any(TableQuery.Lambda?)
            /// To the answer whether the condition is true for each element.
            case all(TableQuery.Lambda)
            /// To the result of a function of the service.
            case function(String, [TableQuery.Argument])
            /// To an annotation, without its `@`: `Measures.Currency`, `Measures.Currency#Reporting`.
            case annotation(String)
        }
    }
}

extension TableQuery {
    /// A condition on an element, which it refers to by the variable's name.
    public struct Lambda: Sendable, Hashable {
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
}

extension TableQuery {
    /// A value with or without a name: of a key, of a function's call, or of an object.
    public struct Argument: Sendable, Hashable {
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
}

extension TableQuery {
    /// A value and the condition under which it is chosen.
    public struct Choice: Sendable, Hashable {
        /// The condition.
        public var condition: QueryExpression
        /// The value.
        public var value: QueryExpression

        /// A value.
        public init(when condition: QueryExpression, _ value: QueryExpression) {
            self.condition = condition
            self.value = value
        }
    }
}
