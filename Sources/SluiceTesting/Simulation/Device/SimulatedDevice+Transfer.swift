internal import SluiceCore

extension SimulatedDevice {
    /// Moves what waits for a record into another device's queue, as a person does when nothing else happens on either.
    func transfer(_ choice: Int, to other: SimulatedDevice) async {
        do {
            guard let queue = context?.queue, let target = other.context?.queue else { return }
            let operations = try await queue.operations()
            guard !operations.isEmpty else { return }
            let (table, id) = (
                operations[choice % operations.count].table, operations[choice % operations.count].recordID
            )
            let moved = operations.filter { $0.table == table && $0.recordID == id }
            guard moved.allSatisfy({ $0.group == nil }) else { return }
            let text = try await queue.export(QueueFilter(table: table, recordID: id))
            let key = RecordKey(table: table, id: id)
            parts.oracle.moves(moved.map(\.id), of: key, from: index, to: other.index)
            guard try await target.import(text).imported == moved.count else { return }
            parts.trace.note(
                "transfer", id.text, other.index, line: "  \(key) goes on in the queue of device \(other.index)")
            for operation in moved.reversed() { try await queue.discard(operation.id, goesOnElsewhere: true) }
            parts.oracle.moved(key, from: index, to: other.index)
        } catch let error as SluiceError
            where [.operationRefused, .operationsPending, .recordExists, .invalidRecord].contains(error.code)
        {
            // The other device has changes of that record too, or a record that is in the way.
        } catch {
            explain(error, "transfer")
        }
    }
}
