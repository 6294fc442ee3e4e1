/// What a query may say of properties that the table declares no column for.
package enum UndeclaredColumns: Sendable, Hashable {
    /// They are properties that a record may have, or not.
    case allowed
    /// They are mistakes: the query is refused, with the name. `id` is declared in every table.
    case refused
}
