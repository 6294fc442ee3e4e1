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

/// A text as a cache key: two are the same only if their bytes are.
struct QueryText: BytewiseText {
    let text: String
    init(_ text: String) { self.text = text }
}

/// A part of an SQL statement and the values to bind to its placeholders, in their order.
package struct SQLText: Sendable, Hashable {
    /// The SQL, with a placeholder for each constant.
    package var text: String
    /// The constants.
    package var values: [SQLValue]

    /// Creates a part from SQL that the program itself has written.
    package init(_ text: String = "", values: [SQLValue] = []) {
        self.text = text
        self.values = values
    }

    /// Appends SQL that the program itself has written.
    package mutating func append(_ text: String) { self.text += text }

    /// Adds another part and its values.
    package mutating func append(_ other: SQLText) {
        text += other.text
        values += other.values
    }

    /// Appends a placeholder and its value.
    package mutating func append(_ value: SQLValue, _ dialect: SQLDialect) {
        values.append(value)
        text += dialect.placeholder(values.count)
    }

    /// Adds a quoted identifier.
    package mutating func append(identifier: String, _ dialect: SQLDialect) {
        text += dialect.quoted(identifier)
    }
}
