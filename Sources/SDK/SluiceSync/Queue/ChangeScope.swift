internal import SluiceBase

/// What the changes of one transaction find alike, asked of the store once. It lives as long as the transaction, in which
/// nobody else writes.
final class ChangeScope {
    /// What stays here of a table, by the table's name.
    private var localOnly: [ExactName: LocalOnly] = [:]
    /// The sequence of the last operation; nil where it has to be looked up.
    private var lastSequence: Int64?

    /// What the store remembers of a table that stays here, or of its columns.
    func localOnly(_ table: String, in store: any StoreReader) throws -> LocalOnly {
        if let known = localOnly[ExactName(table)] { return known }
        let found = try LocalOnly(table, in: store)
        localOnly[ExactName(table)] = found
        return found
    }

    /// The sequence of a new operation at the end of the queue.
    func nextSequence(_ queue: QueueReader) throws -> Int64 {
        let next = try lastSequence.map { $0 + 1 } ?? queue.nextSequence()
        lastSequence = next
        return next
    }

    /// An operation has been removed: it may have been the last one.
    func removed() { lastSequence = nil }
}
