/// What one transaction changed, once it was committed.
///
/// A batch that holds more than a consumer should have to keep names tables in place of records: see ``reloads``.
public struct ChangeBatch: Sendable, Hashable {
    /// What to read anew because the records that changed are not listed one by one.
    public enum Reload: Sendable, Hashable {
        /// These tables; often none.
        case tables(Set<String>)
        /// All of them.
        case everything
    }

    /// The batch's number in its context: larger for what was committed later. Numbers are left out.
    public var id: UInt64
    /// The records that changed, each once.
    public var changes: [StoreChange]
    /// Of which tables more has changed than ``changes`` lists.
    public var reloads: Reload

    /// A batch.
    public init(id: UInt64, changes: [StoreChange], reloads: Reload = .tables([])) {
        self.id = id
        self.changes = changes
        self.reloads = reloads
    }

    /// Whether the batch can concern what was read of the table.
    public func concerns(_ table: String) -> Bool {
        switch reloads {
        case .everything: true
        case .tables(let tables): tables.contains(table) || changes.contains { $0.table == table }
        }
    }

    /// This batch and a later one as one that names tables only.
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
