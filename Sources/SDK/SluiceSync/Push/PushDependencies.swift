/// What the declared dependencies of tables mean for single operations.
///
/// An insert, update or undelete of a child waits for the insert or undelete of its parent; the delete of a parent
/// waits for what was queued before it on its children. A parent's operation further after in the queue counts if it
/// is the first one on its record: the parent is not on the server yet.
struct PushDependencies: Sendable {
    private var parents: [String: [TableDependency]] = [:]
    private var children: [String: [TableDependency]] = [:]

    init(_ dependencies: [TableDependency]) {
        for dependency in dependencies {
            parents[dependency.child, default: []].append(dependency)
            children[dependency.parent, default: []].append(dependency)
        }
    }

    /// The places of the operations that have to end before this one begins.
    func blockers(of operation: QueuedOperation, _ index: Index) -> [Int64] {
        if operation.kind == .delete {
            return (children[operation.table] ?? []).flatMap { index.children(of: operation, $0) }
        }
        return (parents[operation.table] ?? []).flatMap { index.parents(of: operation, $0) }
    }

    /// Whether what was queued of a child has to end before the delete of its parent begins.
    func places(_ change: QueuedOperation, before delete: QueuedOperation) -> Bool {
        guard change.sequence < delete.sequence else { return false }
        return (children[delete.table] ?? []).contains { dependency in
            dependency.child == change.table && change.key != delete.key
                && (dependency.column == nil || change.parents.union(change.formerParents).contains(delete.key))
        }
    }

    /// The open operations, by what others look for.
    struct Index: Sendable {
        private struct Reference: Hashable {
            let child: String
            let parent: RecordKey
        }
        private struct Change: Hashable {
            var place: Int64
            var key: RecordKey
        }
        /// The operations on a record, in order: at most a few.
        private var onRecord: [RecordKey: [(place: Int64, makes: Bool)]] = [:]
        private var referring: [Reference: Set<Int64>] = [:]
        /// Only for dependencies that name no column, and filled only where the table is one of theirs.
        private var inTable: [String: [Int64]] = [:]
        private var making: [String: [Change]] = [:]

        mutating func add(_ operation: QueuedOperation) {
            onRecord[operation.key, default: []].append((operation.sequence, operation.makesRecord))
            for parent in operation.parents.union(operation.formerParents) {
                referring[Reference(child: operation.table, parent: parent), default: []].insert(operation.sequence)
            }
            // Whose children wait for a held parent is not known without a column, and all of them need not.
            if operation.isOrderedByTable, !operation.isHeld {
                inTable[operation.table, default: []].append(operation.sequence)
                if operation.makesRecord {
                    making[operation.table, default: []].append(Change(place: operation.sequence, key: operation.key))
                }
            }
        }

        mutating func remove(_ operation: QueuedOperation) {
            onRecord[operation.key]?.removeAll { $0.place == operation.sequence }
            if onRecord[operation.key]?.isEmpty == true { onRecord[operation.key] = nil }
            for parent in operation.parents.union(operation.formerParents) {
                let reference = Reference(child: operation.table, parent: parent)
                referring[reference]?.remove(operation.sequence)
                if referring[reference]?.isEmpty == true { referring[reference] = nil }
            }
            guard operation.isOrderedByTable else { return }
            Self.remove(operation.sequence, from: &inTable[operation.table, default: []], \.self)
            Self.remove(operation.sequence, from: &making[operation.table, default: []], \.place)
        }

        private static func remove<Element>(
            _ place: Int64, from list: inout [Element], _ key: (Element) -> Int64
        ) {
            let index = firstIndex(from: place, in: list, key)
            if index < list.count, key(list[index]) == place { list.remove(at: index) }
        }

        /// Where the first one at that place of the queue or after it stands in a list that is in order.
        private static func firstIndex<Element>(
            from place: Int64, in list: [Element], _ key: (Element) -> Int64
        ) -> Int {
            var (low, high) = (0, list.count)
            while low < high {
                let middle = (low + high) / 2
                if key(list[middle]) < place { low = middle + 1 } else { high = middle }
            }
            return low
        }

        /// The operation before this one on its record.
        func predecessor(of operation: QueuedOperation) -> Int64? {
            onRecord[operation.key]?.last { $0.place < operation.sequence }?.place
        }

        /// The places of the operations that make the record.
        func makers(of key: RecordKey) -> [Int64] { onRecord[key]?.filter(\.makes).map(\.place) ?? [] }

        fileprivate func parents(of operation: QueuedOperation, _ dependency: TableDependency) -> [Int64] {
            guard dependency.column != nil else {
                // Any of them; the last one has the others before it. One that was queued later may not count in the
                // end.
                let making = making[dependency.parent] ?? []
                let last = making.last { counts($0.place, $0.key, for: operation) }?.place
                let index = Self.firstIndex(from: operation.sequence, in: making, \.place)
                let earlier = index > 0 ? making[index - 1].place : nil
                return Set([earlier, last].compactMap(\.self)).sorted()
            }
            return operation.parents.filter { $0.table == dependency.parent }.flatMap { key in
                (onRecord[key] ?? []).filter { $0.makes && counts($0.place, key, for: operation) }.map(\.place)
            }.sorted()
        }

        private func counts(_ place: Int64, _ key: RecordKey, for operation: QueuedOperation) -> Bool {
            place < operation.sequence || onRecord[key]?.first?.place == place
        }

        fileprivate func children(of operation: QueuedOperation, _ dependency: TableDependency) -> [Int64] {
            guard dependency.column != nil else {
                let places = inTable[dependency.child] ?? []
                let index = Self.firstIndex(from: operation.sequence, in: places, \.self)
                return index > 0 ? [places[index - 1]] : []
            }
            let reference = Reference(child: dependency.child, parent: operation.key)
            return (referring[reference] ?? []).filter { $0 < operation.sequence }.sorted()
        }
    }
}
