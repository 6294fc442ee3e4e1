/// Publishes commits in the order in which they were made.
///
/// Transactions run one after the other, so a number taken inside one is its place. The tasks that made them go on in
/// any order: what comes early waits here until all before it have ended.
struct CommitOrder<Item: Sendable>: Sendable {
    private var next: UInt64 = 1
    private var first: UInt64 = 1
    private var ended: [UInt64: Item?] = [:]

    /// The number of the transaction that runs now.
    mutating func begin() -> UInt64 {
        defer { next += 1 }
        return next
    }

    /// Takes what is to be told of a transaction, nil for one that rolled back, and gives what can be told by now.
    mutating func end(_ number: UInt64, _ item: Item?) -> [Item] {
        ended[number] = .some(item)
        var ready: [Item] = []
        while let item = ended.removeValue(forKey: first) {
            first += 1
            if let item { ready.append(item) }
        }
        return ready
    }
}
