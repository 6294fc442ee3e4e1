/// The SQL syntax of a database, as far as queries need it.
package struct SQLDialect: Sendable {
    /// The mark around identifiers, doubled inside them.
    package var identifierQuote: String
    /// The placeholder of the value with that number, counted from 1.
    package var placeholder: @Sendable (Int) -> String
    /// Equality in which null equals null, and its opposite.
    package var isSame: String
    package var isDifferent: String
    /// The function that finds a text in another, counting from 1, and returns 0 if it is not there.
    package var find: String

    /// Returns a name as an identifier, with any characters.
    package func quoted(_ identifier: String) -> String {
        var quoted = identifierQuote
        for scalar in identifier.unicodeScalars {
            quoted.unicodeScalars.append(scalar)
            if String(scalar) == identifierQuote { quoted += identifierQuote }
        }
        return quoted + identifierQuote
    }

    /// SQLite 3.23 or newer.
    package static let sqlite = SQLDialect(
        identifierQuote: "\"", placeholder: { _ in "?" }, isSame: "IS", isDifferent: "IS NOT", find: "instr")
}
