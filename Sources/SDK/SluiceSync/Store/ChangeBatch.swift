/// The changes of one committed transaction.
///
/// A batch too large for a consumer to keep names tables instead of records: see ``reloads``.
public struct ChangeBatch: Sendable, Hashable {
    /// The tables to read again, because their changed records are not listed one by one.
    public enum Reload: Sendable, Hashable {
        /// These tables; often none.
        case tables(Set<String>)
        /// All of them.
        case everything
    }

    /// The batch's number in its context: larger for later commits. Numbers may be skipped.
    public var id: UInt64
    /// The records that changed, each once.
    public var changes: [StoreChange]
    /// The tables with more changes than ``changes`` lists.
    public var reloads: Reload

    /// A batch.
    public init(id: UInt64, changes: [StoreChange], reloads: Reload = .tables([])) {
        self.id = id
        self.changes = changes
        self.reloads = reloads
    }

    /// Whether the batch can affect data read from the table.
    public func concerns(_ table: String) -> Bool {
        switch reloads {
        case .everything: true
        case .tables(let tables): tables.contains(table) || changes.contains { $0.table == table }
        }
    }

    /// Returns one batch for this and a later one, which names tables only.
    func coalesced(with later: ChangeBatch) -> ChangeBatch {
        let reloads: Reload
        if case .tables(let mine) = self.reloads, case .tables(let theirs) = later.reloads {
            reloads = .tables(mine.union(theirs).union(changes.map(\.table)).union(later.changes.map(\.table)))
        } else {
            reloads = .everything
        }
        return ChangeBatch(id: later.id, changes: [], reloads: reloads)
    }
}

/// The change batches that wait for one consumer. When too many wait, they become one that names tables only.
struct ChangeBacklog: Backlog {
    static let batchLimit = 256

    private var batches: [ChangeBatch] = []
    private var changes = 0

    var isEmpty: Bool { batches.isEmpty }

    mutating func append(_ batch: ChangeBatch) {
        batches.append(batch)
        changes += batch.changes.count
        guard batches.count > Self.batchLimit || (batches.count > 1 && changes > RecordedChanges.limit) else { return }
        let all = batches.dropFirst().reduce(batches[0]) { $0.coalesced(with: $1) }
        batches = [all]
        changes = 0
    }

    mutating func popFirst() -> ChangeBatch? {
        if batches.isEmpty { return nil }
        let first = batches.removeFirst()
        changes -= first.changes.count
        return first
    }
}
