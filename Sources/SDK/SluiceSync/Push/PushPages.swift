internal import SluiceBase

/// Gathers the operations that are ready to be sent into pages, as a pure state: operations that began together go
/// together, and a group goes when all its members are ready. If a member leaves without being ready, none is sent.
struct PushPages {
    /// Operations that are sent together.
    struct Page {
        var items: [PlacedItem] = []
        var isGroup = false
        /// Whether it cannot be sent, because a member of the group is missing.
        var isBroken = false
    }
    /// An operation with its place in the queue.
    struct PlacedItem: Sendable {
        let place: Int64
        let item: PushItem
    }

    private struct Group {
        var expected: Set<Int64> = []
        var ready: [PlacedItem] = []
        var isBroken = false
    }

    /// The free operations that may still become ready, and those that are.
    private var expected: Set<Int64> = []
    private var ready: [PlacedItem] = []
    private var groups: [String: Group] = [:]
    private var groupOf: [Int64: String] = [:]

    /// Notes operations that begin together.
    mutating func begin(_ operations: [QueuedOperation]) {
        for operation in operations {
            guard let group = operation.group else {
                expected.insert(operation.sequence)
                continue
            }
            groups[group, default: Group()].expected.insert(operation.sequence)
            groupOf[operation.sequence] = group
        }
    }

    /// Notes that an operation is ready to be sent.
    mutating func add(_ item: PlacedItem) {
        expected.remove(item.place)
        if let group = groupOf.removeValue(forKey: item.place) {
            groups[group]?.expected.remove(item.place)
            groups[group]?.ready.append(item)
        } else {
            ready.append(item)
        }
    }

    /// Notes that an operation does not become ready.
    ///
    /// - Parameter isGone: whether it has left its group, so that the others are sent without it.
    mutating func leave(_ place: Int64, isGone: Bool) {
        expected.remove(place)
        if let group = groupOf.removeValue(forKey: place) {
            groups[group]?.expected.remove(place)
            if !isGone { groups[group]?.isBroken = true }
        }
    }

    /// Returns the pages that are due, each in the order of the queue.
    ///
    /// - Parameter size: the maximum number of operations on a page; a group goes whole, whatever its size.
    mutating func due(_ size: Int) -> [Page] {
        var pages: [Page] = []
        for (name, group) in groups.sorted(by: { $0.key < $1.key }) where group.expected.isEmpty {
            groups[name] = nil
            if group.ready.isEmpty { continue }
            let items = group.ready.sorted { $0.place < $1.place }
            pages.append(Page(items: items, isGroup: true, isBroken: group.isBroken))
        }
        guard ready.count >= size || expected.isEmpty else { return pages }
        ready.sort { $0.place < $1.place }
        while ready.count >= size || expected.isEmpty && !ready.isEmpty {
            pages.append(Page(items: Array(ready.prefix(size))))
            ready.removeFirst(min(size, ready.count))
        }
        return pages
    }
}
