internal import SluiceBase

/// A statement's text by its bytes. Two names that Swift's `String` takes for equal, as the composed and the decomposed
/// form of a letter, are two names in SQL, and their statements must not stand for each other.
struct StatementText: Hashable {
    let sql: String

    static func == (left: StatementText, right: StatementText) -> Bool { left.sql.hasSameBytes(as: right.sql) }

    func hash(into hasher: inout Hasher) { sql.hashBytes(into: &hasher) }
}
