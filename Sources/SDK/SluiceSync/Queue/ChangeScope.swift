internal import SluiceBase

/// Facts that the changes of one transaction share, read from the store once. It lives as long as the transaction, in
/// which nobody else writes.
final class ChangeScope {
    /// The local-only settings of tables, by the table's name.
    private var localOnly: [ExactName: LocalOnly] = [:]
    /// The sequence of the last operation; nil where it has to be looked up.
    private var lastSequence: Int64?

    /// Returns the stored local-only settings of a table and its columns.
    func localOnly(_ table: String, in store: any StoreReader) throws -> LocalOnly {
        if let known = localOnly[ExactName(table)] { return known }
        let found = try LocalOnly(table, in: store)
        localOnly[ExactName(table)] = found
        return found
    }

    /// Returns the sequence of a new operation at the end of the queue.
    func nextSequence(_ queue: QueueReader) throws -> Int64 {
        let next = try lastSequence.map { $0 + 1 } ?? queue.nextSequence()
        lastSequence = next
        return next
    }

    /// Forgets the last sequence, because the removed operation may have been the last one.
    func removed() { lastSequence = nil }
}
