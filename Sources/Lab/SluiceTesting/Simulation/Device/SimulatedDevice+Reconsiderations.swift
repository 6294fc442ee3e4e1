internal import SluiceCore

/// Edits that are deleted and brought back: the written values must be in the record again, or in the audit.
extension SimulatedDevice {
    /// Edits or inserts a record, deletes it, and takes the deletion back: by an undelete, or by discarding the queued
    /// delete. The edits are made one by one, in one transaction, or in a group.
    func reconsider(_ choice: Int) async {
        let first: SimulationAction.Kind = choice / 8192 % 3 == 0 ? .insert : .update
        let discards = choice / 8192 % 3 == 2
        switch choice / 32_768 % 3 {
        case 0:
            await edit(first, choice)
            await edit(.delete, choice)
            if !discards { await edit(.undelete, choice) }
        case let form:
            // A server that takes no batches never gets a group.
            await editAtOnce(
                discards ? [first, .delete] : [first, .delete, .undelete], choice,
                inGroup: form == 1 && parts.setting.takesBatches)
        }
        if discards { await discardDelete(of: record(choice)) }
    }

    /// Makes those edits of one record in one transaction.
    private func editAtOnce(_ kinds: [SimulationAction.Kind], _ choice: Int, inGroup: Bool) async {
        let key = record(choice)
        guard let id = await localID(of: key) else { return }
        let edits = kinds.map { kind -> SimulatedEdit in
            let isEdit = kind == .insert || kind == .update
            return SimulatedEdit(key: key, kind: kind, fields: isEdit ? ["a": parts.oracle.newValue()] : [:])
        }
        for edit in edits { parts.oracle.begin(edit, on: index) }
        defer { for _ in edits { parts.oracle.end(key, on: index) } }
        let hand = EditsInHand(edits)
        do {
            guard let context else { return }
            let record = JSON(members: [("id", JSON(id))] + parts.setting.fields.members(edits[0].fields))
            let body: @Sendable (LocalTransaction) throws -> Void = { transaction in
                for kind in kinds {
                    switch kind {
                    case .insert: try transaction.insert(record, in: key.table)
                    case .update: try transaction.update(record, in: key.table)
                    case .delete: try transaction.delete(id: id, in: key.table)
                    default: try transaction.undelete(id: id, in: key.table)
                    }
                }
            }
            try await EditsInHand.$current.withValue(hand) {
                if inGroup {
                    try await context.group(body)
                } else {
                    try await context.write(body)
                }
            }
        } catch {
            if Self.isRefusal(error) { return }
            guard hand.isCommitted else { return explain(error, "edits of \(key) at once") }
        }
        parts.trace.note(
            "edits", key.id.text, index,
            line: "  device \(index) has made of \(key) at once: "
                + kinds.map(\.rawValue).joined(separator: ", "))
    }

    /// Discards the queued delete of a record.
    private func discardDelete(of key: RecordKey) async {
        await repair("discard of a delete") { queue in
            let waiting = try await queue.operations().last { self.key(of: $0) == key }
            guard let waiting, waiting.kind == .delete else { return }
            try await queue.discard(waiting.id)
        }
    }
}
