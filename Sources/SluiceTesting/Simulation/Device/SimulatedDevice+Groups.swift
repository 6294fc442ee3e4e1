internal import SluiceCore
internal import Synchronization

extension SimulatedDevice {
    /// Changes two or three records in one group: inserts what is not there, and changes or deletes what is.
    func group(_ choice: Int) async {
        let oracle = parts.oracle
        var keys: [RecordKey] = []
        for number in 0..<2 + choice / 512 % 2 {
            let key = Self.record(choice + number * 13)
            if !keys.contains(key) { keys.append(key) }
        }
        let plans = keys.enumerated().map { number, key in
            var edit = SimulatedEdit(key: key, kind: .insert, fields: ["a": oracle.newValue(), "b": oracle.newValue()])
            edit.hadRow = oracle.view(of: index) { $0.row(key) != nil }
            return (edit: edit, deletes: choice / (1024 << number) % 3 == 0)
        }
        for plan in plans { oracle.begin(plan.edit, on: index) }
        defer { for key in keys { oracle.end(key, on: index) } }
        let made = Mutex<[SimulatedEdit]>([])
        do {
            guard let context else { return }
            try await context.group { group in
                made.withLock { $0 = [] }
                for plan in plans {
                    let edit = try Self.change(plan.edit, deletes: plan.deletes, in: group)
                    made.withLock { $0.append(edit) }
                }
            }
        } catch {
            if Self.isRefusal(error) { return }
            let edits = made.withLock { $0 }
            guard edits.count == plans.count, edits.contains(where: { oracle.wasCommitted($0, on: index) }) else {
                return explain(error, "a group")
            }
        }
        for edit in made.withLock({ $0 }) {
            parts.trace.note(
                "group", edit.key.id, index, line: "  device \(index) has made \(edit.kind.rawValue) of \(edit.key)")
            oracle.note(edit, on: index)
        }
    }

    private static func change(_ edit: SimulatedEdit, deletes: Bool, in group: OperationGroup) throws -> SimulatedEdit {
        let (key, fields) = (edit.key, edit.fields)
        let isThere = try group.record(key.id, in: key.table) != nil
        if isThere, deletes {
            try group.delete(key.id, in: key.table)
            return SimulatedEdit(key: key, kind: .delete, fields: [:], hadRow: edit.hadRow)
        }
        var record: JSON = ["id": JSON(key.id), "a": JSON(fields["a"] ?? 0), "b": JSON(fields["b"] ?? 0)]
        if isThere {
            try group.update(record, in: key.table)
            return SimulatedEdit(key: key, kind: .update, fields: fields, hadRow: edit.hadRow)
        }
        record["group"] = 1
        try group.insert(record, in: key.table)
        return edit
    }
}
