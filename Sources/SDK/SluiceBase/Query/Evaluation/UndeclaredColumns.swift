/// The treatment of undeclared columns in a query.
package enum UndeclaredColumns: Sendable, Hashable {
    /// They are properties that a record may have or lack.
    case allowed
    /// They are mistakes: the query is refused, with the name. `id` is declared in every table.
    case refused
}
