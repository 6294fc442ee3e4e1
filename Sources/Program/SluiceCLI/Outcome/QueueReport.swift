internal import Sluice
internal import SluiceDaemon

/// Formats queued operations as text and as JSON.
enum QueueReport {
    /// Returns a table with columns for the scheduled time and the user, if an operation has one.
    static func table(_ operations: [TableOperation]) -> TextTable {
        let hasTimes = operations.contains { $0.notBefore != nil }
        let hasUsers = operations.contains { !$0.user.isEmpty }
        return TextTable(
            head: ["operation", "kind", "table", "record", "state"] + (hasTimes ? ["not before"] : [])
                + (hasUsers ? ["user"] : []) + ["attempts", "reason"],
            rows: operations.map { operation in
                [
                    operation.id, operation.kind.rawValue, operation.table, Plain.line(operation.recordID.text),
                    operation.failure?.reason == .maybeApplied
                        ? "\(operation.state.rawValue), maybe applied" : operation.state.rawValue,
                ] + (hasTimes ? [operation.notBefore?.description ?? ""] : [])
                    + (hasUsers ? [SessionUser.text(operation.user)] : []) + [
                        String(operation.attempts), Plain.line(operation.failure?.message ?? ""),
                    ]
            })
    }

    static func json(_ entry: AuditEntry) -> JSON {
        [
            "at": JSON(entry.at.description), "what": JSON(entry.what), "operation": entry.operation.json,
            "local": entry.local ?? .null,
        ]
    }

    static func table(_ entries: [AuditEntry]) -> TextTable {
        TextTable(
            head: ["at", "what", "kind", "table", "record", "local"],
            rows: entries.map { entry in
                [
                    entry.at.description, Plain.line(entry.what), entry.operation.kind.rawValue, entry.operation.table,
                    Plain.line(entry.operation.recordID.text), TextTable.cell(entry.local),
                ]
            })
    }

    /// Returns the copies of a record side by side, one line a property; `*` marks those that differ. If values are of
    /// several types, each shows its own: `5 (number)`, `5 (text)`.
    static func table(_ copies: SyncQueue.Copies, server: JSON?) -> TextTable {
        table(local: copies.local, base: copies.base, server: server ?? copies.mirror)
    }

    /// Returns the same table for copies from another source.
    static func table(local: JSON?, base: JSON?, server: JSON?) -> TextTable {
        let columns = [local, base, server]
        var names: [PropertyName] = []
        for name in columns.flatMap({ $0?.names ?? [] }) where !names.contains(name) { names.append(name) }
        return TextTable(
            head: ["", "property", "local", "base", "server"],
            rows: names.map { name in
                let values = columns.map { $0?[name] }
                let hasTypes = Set(values.compactMap { $0?.kind }.filter { $0 != .null }).count > 1
                return [FieldComparison.differ(columns, in: name) ? "*" : "", Plain.line(name.text)]
                    + values.map { TextTable.cell($0) + (hasTypes ? $0.map { " (\($0.kind.word))" } ?? "" : "") }
            })
    }
}
