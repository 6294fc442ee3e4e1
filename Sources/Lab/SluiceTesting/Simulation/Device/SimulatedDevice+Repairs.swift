internal import SluiceCore

/// An operator's actions on the queue, where an operation's state allows them.
extension SimulatedDevice {
    /// Runs `body` on one of the operations.
    private func repair(
        _ choice: Int, _ what: String, _ body: (SyncQueue, TableOperation) async throws -> Void
    ) async {
        await repair(what) { queue in
            let operations = try await queue.operations()
            guard !operations.isEmpty else { return }
            try await body(queue, operations[choice % operations.count])
        }
    }

    /// Runs `body` on the queue.
    func repair(_ what: String, _ body: (SyncQueue) async throws -> Void) async {
        do {
            guard let queue = context?.queue else { return }
            try await body(queue)
        } catch let error as SluiceError where Self.isImpossible(error) {
            // The operation has ended by now, or its outcome is unknown.
        } catch {
            explain(error, what)
        }
    }

    private static func isImpossible(_ error: SluiceError) -> Bool {
        [.invalidArgument, .operationRefused].contains(error.code)
    }

    /// Discards an operation.
    func discard(_ choice: Int) async {
        await repair(choice, "discard") { queue, operation in try await queue.discard(operation.id) }
    }

    /// Undoes all queued operations of a record.
    func undo(_ choice: Int) async {
        await repair(choice, "undo") { queue, operation in
            try await queue.undo(operation.recordID, in: operation.table)
        }
    }

    /// Changes the body of an operation.
    func amend(_ choice: Int) async {
        await repair(choice, "edit of an operation") { queue, operation in
            guard var body = try await queue.body(of: operation) else { return }
            let field = choice / 512 % 2 == 0 ? "a" : "b"
            let value = parts.oracle.newValue()
            body[parts.setting.fields.name(field)] = JSON(value)
            let key = self.key(of: operation)
            let edit = SimulatedEdit(key: key, kind: .amend, fields: [field: value], operation: operation.id)
            parts.oracle.begin(edit, on: index)
            defer { parts.oracle.end(key, on: index) }
            try await EditsInHand.$current.withValue(EditsInHand([edit])) {
                try await queue.edit(operation.id, to: body, revision: operation.revision)
            }
        }
    }

    /// Changes the kind of an operation.
    func changeKind(_ choice: Int) async {
        await repair(choice, "change of kind") { queue, operation in
            let kinds = TableOperation.Kind.allCases
            try await queue.changeKind(operation.id, to: kinds[choice / 512 % kinds.count])
        }
    }

    /// Resolves a parked conflict, or tries to store a value that is not a record.
    func resolve(_ choice: Int) async {
        await repair(choice, "decision from outside") { queue, operation in
            guard operation.state == .parked else { return }
            let client = try await queue.body(of: operation)
            if choice / 512 % 8 == 7 { return await mergeNothing(operation, queue) }
            var decision = [ConflictDecision.client, .server, .delete, .discard][choice / 512 % 4]
            // An operator gives the record as it was, or as it is seen now.
            let seen =
                choice / 4096 % 2 == 0
                ? client
                : try await context?.table(operation.table)
                    .lookup(id: operation.recordID)
            if choice / 512 % 8 > 4, var merged = seen ?? client {
                merged[parts.setting.fields.name("a")] = JSON(parts.oracle.newValue())
                decision = .merge(merged)
            }
            let key = self.key(of: operation)
            parts.oracle.decided(operation.id, of: key, client, decision, on: index)
            try await queue.resolve(operation.id, decision, revision: operation.revision)
        }
    }

    /// Checks that a value which is not a record of that id is refused as a merge.
    private func mergeNothing(_ operation: TableOperation, _ queue: SyncQueue) async {
        let nothing = Self.noRecords[parts.random.below(Self.noRecords.count)]
        do {
            try await queue.resolve(operation.id, .merge(nothing))
            parts.oracle.violate(
                .noLostWrite, "device \(index) took \(nothing) for the record \(operation.recordID)")
        } catch {
            // Refused, or its process has ended.
        }
    }

    /// The values that a faulty handler may return in place of a record.
    static let noRecords: [JSON] = [.null, [1, "no record"], "text", ["id": "someone else", "a": 1]]
}
