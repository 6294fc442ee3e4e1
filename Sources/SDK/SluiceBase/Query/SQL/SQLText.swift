/// A part of an SQL statement and the values to bind to its placeholders, in their order.
package struct SQLText: Sendable, Hashable {
    /// The SQL, with a placeholder wherever a constant belongs.
    package var text: String
    /// The constants.
    package var values: [SQLValue]

    /// SQL of the program's own making.
    package init(_ text: String = "", values: [SQLValue] = []) {
        self.text = text
        self.values = values
    }

    /// Adds SQL of the program's own making.
    package mutating func append(_ text: String) { self.text += text }

    /// Adds another part and its values.
    package mutating func append(_ other: SQLText) {
        text += other.text
        values += other.values
    }

    /// Adds a placeholder and the value it stands for.
    package mutating func append(_ value: SQLValue, _ dialect: SQLDialect) {
        values.append(value)
        text += dialect.placeholder(values.count)
    }

    /// Adds a quoted identifier.
    package mutating func append(identifier: String, _ dialect: SQLDialect) {
        text += dialect.quoted(identifier)
    }
}
