internal import SluiceCore

/// A device that moves in from an old SDK, with rows, changes and a position that no context has made.
extension SimulatedDevice {
    /// Takes over an old store that holds the items as the server has them, and changes of some of them. An old store knows
    /// only the id and the version of the record that a change was made on, and of some changes not whether they were sent:
    /// the server has made half of these.
    func adopt() async {
        guard let context else { return }
        let known = Set((0..<5).map { parts.setting.id($0) })
        let rows = parts.server.rows("items").filter { known.contains($0.id) && !$0.isDeleted }
            .sorted { $0.id < $1.id }.map(\.wire)
        parts.oracle.hadBefore(rows, in: "items", on: index)
        let positions = position().map { [$0] } ?? []
        var changes: [(change: StoreAdoption.Change, edit: SimulatedEdit)] = []
        for row in rows where parts.random.below(2) == 0 { changes.append(change(of: row)) }
        if parts.random.below(2) == 0 { changes.append(insert(parts.setting.id(5))) }
        for (_, edit) in changes { parts.oracle.begin(edit, on: index) }
        defer { for (_, edit) in changes { parts.oracle.end(edit.key, on: index) } }
        let hand = EditsInHand(changes.map(\.edit))
        do {
            _ = try await EditsInHand.$current.withValue(hand) {
                try await context.adopt(
                    StoreAdoption(
                        name: "old", tables: ["items"], changes: changes.map(\.change), positions: positions,
                        forEachRecord: { body in for row in rows { try body("items", row) } }))
            }
        } catch {
            guard hand.isCommitted else { return explain(error, "an adoption") }
        }
        for (change, edit) in changes {
            parts.trace.note(
                "adopt", edit.key.id.text, index,
                line: "  device \(index) has adopted \(edit.kind.rawValue) of \(edit.key)"
                    + (change.operation.isUncertain ? ", which may have been sent" : ""))
        }
    }

    /// Returns how far the old SDK had pulled all items; nil where it does not say so.
    private func position() -> StoreAdoption.Position? {
        // A server that does not tell its time is taken to have the device's: a wrong one lets a cursor go back, and read more.
        guard parts.setting.queries == 1, parts.setting.tellsTime || parts.setting.skews.allSatisfy({ $0 == 0 }),
            parts.random.below(2) == 0
        else { return nil }
        let lag = Duration.seconds(parts.setting.commitLag)
        return StoreAdoption.Position(
            query: query("items", nil), name: "all", time: parts.clock.now.advanced(by: .zero - lag), recheck: [])
    }

    private func change(of row: JSON) -> (StoreAdoption.Change, SimulatedEdit) {
        let version = parts.dialect.columns.version
        let id = row["id"]?.textID ?? ""
        var known: JSON = ["id": JSON(id)]
        known[version] = row[version]
        guard parts.random.below(3) > 0 else {
            return plan(.delete, id, record: nil, fields: [:], base: known, mirror: row)
        }
        let fields = ["a": parts.oracle.newValue()]
        var record = row
        for (name, value) in parts.setting.fields.members(fields) { record[name] = value }
        return plan(.update, id, record: record, fields: fields, base: known, mirror: known)
    }

    private func insert(_ id: RecordID) -> (StoreAdoption.Change, SimulatedEdit) {
        let fields = ["a": parts.oracle.newValue(), "b": parts.oracle.newValue()]
        var record: JSON = ["id": JSON(id), "group": 1]
        for (name, value) in parts.setting.fields.members(fields) { record[name] = value }
        return plan(.insert, id, record: record, fields: fields, base: nil, mirror: nil)
    }

    /// Returns the change, with its edit for the checker. One in three may have been sent, and the server has made half of
    /// these.
    private func plan(
        _ edit: SimulationAction.Kind, _ id: RecordID, record: JSON?, fields: [String: Int64], base: JSON?,
        mirror: JSON?
    ) -> (StoreAdoption.Change, SimulatedEdit) {
        var operation = TableOperation(
            id: newID(), sequence: 0, table: "items", recordID: id,
            kind: TableOperation.Kind(rawValue: edit.rawValue) ?? .update, createdAt: parts.clock.now)
        if parts.random.below(3) == 0 {
            operation.attempts = 1
            operation.isUncertain = true
            if parts.random.below(2) == 0 {
                parts.server.edit("items", [(id, record.map { RecordRules.withoutSystemColumns($0, system) })])
            }
        }
        return (
            StoreAdoption.Change(operation: operation, record: record, base: base, mirror: mirror),
            SimulatedEdit(
                key: RecordKey(table: "items", id: parts.setting.ids.known(id)), kind: edit, fields: fields)
        )
    }

    private var system: Set<PropertyName> { parts.dialect.pushColumns.system }
}
