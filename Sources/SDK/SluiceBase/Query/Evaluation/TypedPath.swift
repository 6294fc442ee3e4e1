/// A path whose steps have been found to make sense.
struct TypedPath: Sendable {
    /// Where a path begins.
    enum Root: Sendable {
        /// The record that is asked about, or inside `/$filter(` the element.
        case record
        /// The record that is asked about, wherever it is written.
        case it
        /// The element of that variable; the inner of two that have the same name.
        case variable(PropertyName)
    }

    /// A step from a value to another.
    enum Step: Sendable {
        /// To a property, of the declared type if there is one.
        case property(PropertyName, TableSchema.ColumnType?)
        /// Along a navigation property.
        case navigation(TableSchema.Reference, TableSchema?)
        /// To the elements that pass.
        case filter(TypedExpression)
        /// To the number of elements: of those that pass and match.
        case count(TypedExpression?, QuerySearch?)
        /// To whether there is an element, for which the condition is true.
        case any(PropertyName, TypedExpression?)
        /// To whether the condition is true for all elements.
        case all(PropertyName, TypedExpression)
    }

    var root: Root
    var steps: [Step]
    /// What the path leads to.
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

/// Gives a query the records of other tables, so that its paths can follow navigation properties.
public protocol QueryRelations: Sendable {
    /// The columns of the table; nil if none are declared.
    func schema(of table: String) -> TableSchema?
    /// The records of the table whose property has the value, in the order of their ids.
    func records(of table: String, where column: PropertyName, equals value: JSON) -> [JSON]
}
