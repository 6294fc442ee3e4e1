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
