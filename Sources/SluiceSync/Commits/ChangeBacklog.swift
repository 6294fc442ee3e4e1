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
