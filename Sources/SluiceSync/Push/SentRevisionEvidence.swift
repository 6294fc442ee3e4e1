internal import SluiceBase

/// Decides whether the server's record shows the effect of a send whose answer is unknown.
struct SentRevisionEvidence {
    private let item: PushItem
    private let columns: PushColumns

    package init(_ item: PushItem, columns: PushColumns) {
        self.item = item
        self.columns = columns
    }

    /// The newest send whose effect the record shows, or nil.
    func newestSend(shownBy record: JSON) -> SentBody? {
        item.operation.sent.reversed().first { shows(record, $0) }
    }

    private func shows(_ record: JSON, _ sent: SentBody) -> Bool {
        // A body that a filter dropped or encoded names nothing that could be found again.
        guard sent.final.kind == .object, columns.holds(record, changes(by: sent, shownBy: record), item.forms) else {
            return false
        }
        let others: Set<PropertyName>
        if item.operation.kind == .delete {
            // A delete may only follow on a record that is exactly what an edit before it sent, and no one else's.
            guard sent.revision < item.operation.revision else { return false }
            others = Set(record.names).union(item.base?.names ?? [])
        } else {
            // What only an earlier body named was taken back by this one, which then names it no more.
            others = Set(
                item.operation.sent.filter { $0.revision < sent.revision }.flatMap { $0.final.names })
        }
        return others.allSatisfy { name in
            name == columns.id || columns.system.contains(name) || sent.final[name] != nil
                || (record[name] ?? .null) == (item.base?[name] ?? .null)
                || columns.replaces && (record[name] ?? .null) == .null
        }
    }

    /// What the send was to change: where a record goes out whole, the rest of it is only repeated, and a server may keep
    /// some of that itself, such as who was the last to write. What was taken out it may have set again by itself, to
    /// another value than before.
    private func changes(by sent: SentBody, shownBy record: JSON) -> JSON {
        guard item.operation.kind == .update, let base = item.base else { return sent.final }
        let own = columns.system.union([columns.id])
        let changes = columns.replaces ? Rebase.changes(from: base, to: sent.final, system: own) : sent.final
        if changes == .object { return sent.final }
        func isWritten(_ name: PropertyName) -> Bool { !(sent.final[name] ?? .null).isNull && !own.contains(name) }
        let shown = (changes.members ?? []).filter { name, _ in
            isWritten(name) || (record[name] ?? .null) == (base[name] ?? .null)
        }
        return shown.contains { isWritten($0.name) } ? JSON(members: shown.map { ($0.name, $0.value) }) : changes
    }
}
