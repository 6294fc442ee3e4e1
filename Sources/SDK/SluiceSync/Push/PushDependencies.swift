/// The declared dependencies of tables, applied to single operations.
///
/// An insert, update or undelete of a child waits for the insert or undelete of its parent; the delete of a parent
/// waits for the earlier operations of its children. A parent's later operation counts if it is the first one on its
/// record: the parent is not on the server yet.
struct PushDependencies: Sendable {
    private var parents: [String: [TableDependency]] = [:]
    private var children: [String: [TableDependency]] = [:]

    init(_ dependencies: [TableDependency]) {
        for dependency in dependencies {
            parents[dependency.child, default: []].append(dependency)
            children[dependency.parent, default: []].append(dependency)
        }
    }

    /// Returns the places of the operations that have to end before this one begins.
    func blockers(of operation: QueuedOperation, _ index: Index) -> [Int64] {
        if operation.kind == .delete {
            return (children[operation.table] ?? []).flatMap { index.children(of: operation, $0) }
        }
        return (parents[operation.table] ?? []).flatMap { index.parents(of: operation, $0) }
    }

    /// Whether a child's operation has to end before the delete of its parent begins.
    func places(_ change: QueuedOperation, before delete: QueuedOperation) -> Bool {
        change.sequence < delete.sequence && isOfChild(change, ofRecordIn: delete)
    }

    /// Whether a delete removes a parent of the change's record.
    func isOfChild(_ change: QueuedOperation, ofRecordIn delete: QueuedOperation) -> Bool {
        guard delete.kind == .delete else { return false }
        return (children[delete.table] ?? []).contains { dependency in
            dependency.child == change.table && change.key != delete.key
                && (dependency.column == nil || change.parents.union(change.formerParents).contains(delete.key))
        }
    }

    /// The open operations, indexed by record, reference and table.
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
        /// The places by table, only for tables in a dependency without a column.
        private var inTable: [String: [Int64]] = [:]
        private var making: [String: [Change]] = [:]

        mutating func add(_ operation: QueuedOperation) {
            onRecord[operation.key, default: []].append((operation.sequence, operation.makesRecord))
            for parent in operation.parents.union(operation.formerParents) {
                referring[Reference(child: operation.table, parent: parent), default: []].insert(operation.sequence)
            }
            // Without a column the children of a held parent are unknown, and not all of them need to wait.
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

        /// Returns the index in a sorted list of the first element at that place of the queue or after it.
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

        /// Returns the place of the operation before this one on its record.
        func predecessor(of operation: QueuedOperation) -> Int64? {
            onRecord[operation.key]?.last { $0.place < operation.sequence }?.place
        }

        /// Returns the places of the operations that create the record.
        func makers(of key: RecordKey) -> [Int64] { onRecord[key]?.filter(\.makes).map(\.place) ?? [] }

        fileprivate func parents(of operation: QueuedOperation, _ dependency: TableDependency) -> [Int64] {
            guard dependency.column != nil else {
                // Waits for all parents by waiting for the last one. A later one may not count, so the last earlier one
                // is added.
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
