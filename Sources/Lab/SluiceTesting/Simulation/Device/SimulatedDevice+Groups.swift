internal import SluiceCore

extension SimulatedDevice {
    /// Changes two or three records in one group, or in one transaction only. Missing records are inserted; existing
    /// ones are changed or deleted.
    func group(_ choice: Int) async {
        await change(choice, inGroup: choice / 4096 % 2 == 0, isTyped: false)
    }

    /// Changes two or three records in one transaction, after reading them. Typed tables are used where the records
    /// allow it.
    func transaction(_ choice: Int) async {
        // A typed record cannot have two properties that Swift takes for one.
        await change(choice, inGroup: false, isTyped: choice / 4096 % 4 > 0 && !parts.setting.fields.areTwins)
    }

    private func change(_ choice: Int, inGroup: Bool, isTyped: Bool) async {
        let oracle = parts.oracle
        var keys: [RecordKey] = []
        for number in 0..<2 + choice / 512 % 2 {
            let key = record(choice + number * 13)
            if !keys.contains(key) { keys.append(key) }
        }
        var plans: [(edit: SimulatedEdit, id: RecordID, deletes: Bool)] = []
        for (number, key) in keys.enumerated() {
            guard let id = await localID(of: key) else { return }
            let edit = SimulatedEdit(key: key, kind: .insert, fields: ["a": oracle.newValue(), "b": oracle.newValue()])
            plans.append((edit, id, choice / (1024 << number) % 3 == 0))
        }
        for plan in plans { oracle.begin(plan.edit, on: index) }
        defer { for key in keys { oracle.end(key, on: index) } }
        let hand = EditsInHand()
        do {
            guard let context else { return }
            try await EditsInHand.$current.withValue(hand) {
                let body: @Sendable (LocalTransaction) throws -> Void = { [plans] transaction in
                    hand.edits = []
                    hand.edits = try plans.map { plan in
                        isTyped
                            ? try self.changeTyped(plan.edit, plan.id, deletes: plan.deletes, in: transaction)
                            : try self.change(plan.edit, plan.id, deletes: plan.deletes, in: transaction)
                    }
                }
                if inGroup {
                    try await context.group(body)
                } else {
                    try await context.write(body)
                }
            }
        } catch {
            if Self.isRefusal(error) { return }
            guard hand.isCommitted else { return explain(error, "a group") }
        }
        for edit in hand.edits {
            parts.trace.note(
                "group", edit.key.id.text, index,
                line: "  device \(index) has made \(edit.kind.rawValue) of \(edit.key)")
        }
    }

    private func change(
        _ edit: SimulatedEdit, _ id: RecordID, deletes: Bool, in transaction: LocalTransaction
    ) throws -> SimulatedEdit {
        let (key, fields) = (edit.key, edit.fields)
        let isThere = try transaction.lookup(id: id, in: key.table) != nil
        if isThere, deletes {
            try transaction.delete(id: id, in: key.table)
            return SimulatedEdit(key: key, kind: .delete, fields: [:])
        }
        var record = JSON(members: [("id", JSON(id))] + parts.setting.fields.members(fields))
        if isThere {
            try transaction.update(record, in: key.table)
            return SimulatedEdit(key: key, kind: .update, fields: fields)
        }
        record["group"] = 1
        try transaction.insert(record, in: key.table)
        return edit
    }

    private func changeTyped(
        _ edit: SimulatedEdit, _ id: RecordID, deletes: Bool, in transaction: LocalTransaction
    ) throws -> SimulatedEdit {
        let (key, fields) = (edit.key, edit.fields)
        let table = try transaction.table(key.table, of: SimulatedRecord.self)
        let values = parts.setting.fields.members(fields)
        guard try table.lookup(id: id) != nil else {
            var record = SimulatedRecord()
            for (name, value) in values { record.members[name] = value }
            (record.members["id"], record.members["group"]) = (JSON(id), 1)
            try table.insert(record)
            return edit
        }
        if deletes {
            try table.delete(id: id)
            return SimulatedEdit(key: key, kind: .delete, fields: [:])
        }
        try table.update(id: id) { record in
            for (name, value) in values { record.members[name] = value }
        }
        return SimulatedEdit(key: key, kind: .update, fields: fields)
    }
}

/// A record with any properties as a typed value. It encodes them in the order of their names, because a seed must
/// produce the same run in every process.
private struct SimulatedRecord: Codable, Sendable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    var members: [String: JSON] = [:]

    init() {}

    init(from decoder: any Decoder) throws {
        members = try decoder.singleValueContainer().decode([String: JSON].self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            try container.encode(value, forKey: Name(stringValue: name))
        }
    }
}
