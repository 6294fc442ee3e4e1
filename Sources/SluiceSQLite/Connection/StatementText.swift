/// A statement's text by its bytes. Two names that Swift's `String` takes for equal, as the composed and the decomposed
/// form of a letter, are two names in SQL, and their statements must not stand for each other.
struct StatementText: Hashable {
    let sql: String

    static func == (left: StatementText, right: StatementText) -> Bool {
        left.sql.utf8.count == right.sql.utf8.count && left.sql.utf8.elementsEqual(right.sql.utf8)
    }

    func hash(into hasher: inout Hasher) {
        let isHashed: Void? = sql.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: .init($0)) }
        if isHashed == nil { for byte in sql.utf8 { hasher.combine(byte) } }
    }
}
