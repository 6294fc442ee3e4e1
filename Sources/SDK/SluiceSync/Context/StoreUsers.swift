internal import SluiceBase
internal import SluiceWire

/// The users whose rows and changes a store holds.
package struct StoreUsers: Sendable, Hashable {
    /// All users with pulled rows or waiting changes, each once, in the order of their names' bytes. Names that differ
    /// in the form of a letter are two users.
    package let known: [String]
    /// The user of the last pull. It is nil if nobody has pulled, or if different users have pulled different tables.
    package let current: String?

    /// Reads the users from the store.
    package init(_ store: any LocalStore) async throws {
        (known, current) = try await store.read { reader in
            let cursors = try reader.records(matching: TableQuery(Cursor.schema.name)).compactMap(Cursor.init(record:))
            let waiting = TableQuery(TableOperation.schema.name, filter: .binary(.ne, .column("user"), .literal(.null)))
            let makers = try reader.records(matching: waiting).compactMap { $0["user"]?.string.map(ExactName.init) }
            // Where another user has pulled since, the earlier user's cursors have to start from the beginning.
            let isLast = { (cursor: Cursor) in !(cursor.position == nil && cursor.needsReconcile) }
            let current = Set(cursors.filter { isLast($0) && !$0.isOfNobody }.map { ExactName($0.owner.user) })
            let known = Set(cursors.map { ExactName($0.owner.user) } + makers).subtracting([""])
            return (known.sorted().map(\.text), current.count == 1 ? current.first?.text : nil)
        }
    }
}
