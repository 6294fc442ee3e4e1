internal import SluiceCore

extension SimulatedDevice {
    /// Moves what waits for a record into another device's queue, as a person does when nothing else happens on either:
    /// with the other records of its groups, which go whole.
    func transfer(_ choice: Int, to other: SimulatedDevice) async {
        do {
            guard let queue = context?.queue, let target = other.context?.queue else { return }
            let operations = try await queue.operations()
            guard !operations.isEmpty else { return }
            let keys = together(with: operations[choice % operations.count], in: operations)
            let lines = try await queue.export().split(separator: "\n")
            let moved = zip(operations, lines).filter { keys.contains(self.key(of: $0.0)) }
            for key in keys {
                let ids = moved.map(\.0).filter { self.key(of: $0) == key }.map(\.id)
                parts.oracle.moves(ids, of: key, from: index, to: other.index)
            }
            guard try await target.import(moved.map(\.1).joined(separator: "\n")).imported == moved.count else {
                return
            }
            for key in keys {
                parts.trace.note(
                    "transfer", key.id.text, other.index,
                    line: "  \(key) goes on in the queue of device \(other.index)")
            }
            for (operation, _) in moved.reversed() {
                // The others of a group went with one of it.
                guard try await queue.operations().contains(where: { $0.id == operation.id }) else { continue }
                try await queue.discard(operation.id, goesOnElsewhere: true)
            }
            for key in keys { parts.oracle.moved(key, from: index, to: other.index) }
        } catch let error as SluiceError
            where [.operationRefused, .operationsPending, .recordExists, .invalidRecord].contains(error.code)
        {
            // The other device has changes of that record too, or a record that is in the way.
        } catch {
            explain(error, "transfer")
        }
    }

    /// The records whose operations can only go together with that one's, in the order of the queue.
    private func together(with first: TableOperation, in operations: [TableOperation]) -> [RecordKey] {
        var keys: Set<RecordKey> = []
        var added: Set<RecordKey> = [key(of: first)]
        while !added.isEmpty {
            keys.formUnion(added)
            let groups = Set(operations.filter { keys.contains(key(of: $0)) }.compactMap(\.group))
            let members = operations.filter { operation in operation.group.map(groups.contains) ?? false }
            added = Set(members.map(key(of:))).subtracting(keys)
        }
        return operations.map(key(of:)).filter { keys.remove($0) != nil }
    }

    /// The record that an operation is of.
    func key(of operation: TableOperation) -> RecordKey {
        RecordKey(table: operation.table, id: parts.setting.ids.known(operation.recordID))
    }
}
