/// A checked path.
struct TypedPath: Sendable {
    /// The start of a path.
    enum Root: Sendable {
        /// The queried record, or inside `/$filter(` the element.
        case record
        /// The queried record, at every position.
        case it
        /// The element of that variable; of two with the same name, the inner one.
        case variable(PropertyName)
    }

    /// A step from a value to another.
    enum Step: Sendable {
        /// To a property, of the declared type if there is one.
        case property(PropertyName, TableSchema.ColumnType?)
        /// Along a navigation property.
        case navigation(TableSchema.Reference, TableSchema?)
        /// To the elements that pass the condition.
        case filter(TypedExpression)
        /// To the number of elements that pass the condition and match the search.
        case count(TypedExpression?, QuerySearch?)
        /// To the answer whether the condition is true for any element.
        case any(PropertyName, TypedExpression?)
        /// To the answer whether the condition is true for all elements.
        case all(PropertyName, TypedExpression)
    }

    var root: Root
    var steps: [Step]
    /// The type of the value at the path's end.
    var type = QueryType.any

    /// Whether the path, or one in it, follows a navigation property.
    var hasNavigation: Bool {
        steps.contains { step in
            switch step {
            case .property: false
            case .navigation: true
            case .filter(let condition), .all(_, let condition): condition.hasNavigation
            case .count(let condition, _), .any(_, let condition): condition?.hasNavigation ?? false
            }
        }
    }
}

extension TypedExpression {
    /// Whether a path in the expression follows a navigation property.
    var hasNavigation: Bool {
        let isHere =
            switch node {
            case .path(let path, _), .isElement(let path, _): path.hasNavigation
            default: false
            }
        return isHere || operands.contains { $0.hasNavigation }
    }
}

extension TableQuery {
    /// Provides a query with the records of other tables, so that its paths can follow navigation properties.
    public protocol Relations: Sendable {
        /// Returns the columns of the table; nil if none are declared.
        func schema(of table: String) -> TableSchema?
        /// Returns the table's records with that property value, in the order of their ids.
        func records(of table: String, where column: PropertyName, equals value: JSON) -> [JSON]
    }
}
