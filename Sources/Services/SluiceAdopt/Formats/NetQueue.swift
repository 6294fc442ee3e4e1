internal import SluiceBase
internal import SluiceSync

extension OldQueue {
    /// Reads the queue of the .NET clients, or of Datasync 5 and 6: one design with other numbers and names.
    ///
    /// - Throws: ``SluiceError`` of code `unsupported` for a value that no version writes.
    init(net file: OldFile, isDatasync: Bool) throws {
        let kinds: [Int64: TableOperation.Kind] =
            isDatasync ? [1: .delete, 2: .insert, 3: .update] : [0: .insert, 1: .update, 2: .delete]
        let states: [Int64: OldOperation.Sent] =
            isDatasync ? [0: .no, 1: .maybe, 3: .maybe] : [0: .no, 1: .maybe, 2: .maybe]
        let errors = try Self.errors(in: file, isDatasync: isDatasync)
        var sequences: Set<Int64> = []
        for row in try file.rows(of: "__operations", by: "sequence, rowid") {
            if !isDatasync, row.integer("tableKind") != 0 { throw row.refusal("tableKind", "kind of a table") }
            var operation = OldOperation(
                try row.meaning(of: "kind", kinds, "kind of an operation"), table: try row.required("tableName"),
                recordID: RecordID(try row.required("itemId")))
            operation.id = try row.required("id")
            operation.item = try row.json("item")
            operation.sent = try row.meaning(of: "state", states, "state of an operation")
            if operation.kind == .delete { operation.base = .version(operation.item?.oldVersion) }
            // An error of an earlier content tells nothing of this one.
            if let id = operation.id, let error = errors[id], error.version == row.integer("version"),
                operation.sent == .maybe
            {
                error.describe(&operation)
            }
            if let sequence = row.integer("sequence"), !sequences.insert(sequence).inserted {
                notes.append(
                    "two operations have the place \(sequence) in the old queue; their order is that of the rows")
            }
            operations.append(operation)
        }
        let known = Set(operations.compactMap(\.id))
        for id in errors.keys.sorted() where !known.contains(id) {
            notes.append("an error is of an operation that is not in the old queue: \(id)")
        }
        tokens = try file.rows(of: "__config", by: "id").compactMap(isDatasync ? Self.datasyncToken : Self.netToken)
    }

    private struct StoredError {
        let version: Int64?
        let status: Int64?
        let result: String?

        func describe(_ operation: inout OldOperation) {
            operation.message = OldAnswer.message(result)
            guard let status else { return }
            operation.sent = .answered(Int(status))
            operation.serverItem = OldAnswer.record(result)
        }
    }

    private static func errors(in file: OldFile, isDatasync: Bool) throws -> [String: StoredError] {
        let names = isDatasync ? ("version", "status") : ("operationVersion", "httpStatus")
        var errors: [String: StoredError] = [:]
        for row in try file.rows(of: "__errors", by: "rowid") {
            errors[try row.required("id")] = StoredError(
                version: row.integer(names.0), status: row.integer(names.1), result: row.text("rawResult"))
        }
        return errors
    }

    /// `deltaToken|{table}|{queryId}`, a round-trip date with an offset; asked again with `ge`.
    private static func netToken(_ row: OldRow) throws -> OldToken? {
        let parts = try row.required("id").split(separator: "|", maxSplits: 2, omittingEmptySubsequences: false)
        switch parts.first {
        case "systemProperties" where parts.count == 2: return nil
        case "deltaToken" where parts.count == 3:
            guard let time = Timestamp(row.text("value") ?? "") else { throw row.refusal("value", "time") }
            return OldToken(table: String(parts[1]), query: String(parts[2]), time: time.ticks > 0 ? time : nil)
        default: throw row.refusal("id", "setting")
        }
    }

    /// `dt.{table}.{queryId}`, in milliseconds, cut; asked again with `gt`, so rows of that millisecond may be missing.
    private static func datasyncToken(_ row: OldRow) throws -> OldToken? {
        let parts = try row.required("id").split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "dt" else { throw row.refusal("id", "setting") }
        guard let time = row.integer("value") else { throw row.refusal("value", "time") }
        return OldToken(
            table: String(parts[1]), query: String(parts[2]), time: .oldMilliseconds(time), slack: .milliseconds(1))
    }
}

extension Timestamp {
    /// The time so many milliseconds after 1970; nil for 0 and less, with which old clients begin.
    static func oldMilliseconds(_ value: Int64) -> Timestamp? {
        guard value > 0, value < 1 << 48 else { return nil }
        return Timestamp(ticks: value * 10_000)
    }
}

extension JSON {
    /// The version of a record in an old store, under either name that the wires have had for it.
    var oldVersion: String? { self["version"]?.string ?? self["__version"]?.string }
}

extension OldQueue {
    /// Reads the queue of the Community Toolkit's client. A push is saved at its end alone, so an operation that is
    /// pending may have been applied.
    ///
    /// - Throws: ``SluiceError`` of code `unsupported` for a value that no version writes.
    init(toolkit file: OldFile) throws {
        for row in try file.rows(of: "DatasyncOperationsQueue", by: "\"Sequence\", rowid") {
            let type = try row.required("EntityType")
            var operation = OldOperation(
                try row.meaning(of: "Kind", [0: .insert, 1: .delete, 2: .update], "kind of an operation"), table: type,
                recordID: RecordID(try row.required("ItemId")))
            operation.id = try row.required("Id")
            operation.item = try row.json("Item")
            operation.isWhole = true
            // An empty version was meant to force the change; it is asked for again instead.
            let version = row.text("EntityVersion") ?? ""
            operation.base = .version(version.isEmpty ? nil : version)
            switch row.integer("State") {
            case 0: operation.sent = .maybe
            case 1: operation.leftOut = "a conflict was decided for the server's record, so there is nothing to send"
            case 2: operation.sent = row.integer("HttpStatusCode").map { .answered(Int($0)) } ?? .maybe
            default: throw row.refusal("State", "state of an operation")
            }
            operations.append(operation)
        }
        for row in try file.rows(of: "DatasyncDeltaTokens", by: "\"Id\"") {
            guard let time = row.integer("Value") else { throw row.refusal("Value", "time") }
            let id = try row.required("Id")
            // The type's name, or q-{type}-{queryId}; a type's name has no hyphen.
            let parts = id.split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
            let isQuery = parts.count == 3 && parts[0] == "q"
            guard isQuery || parts.count == 1 else { throw row.refusal("Id", "delta token") }
            tokens.append(
                OldToken(
                    table: isQuery ? String(parts[1]) : id, query: isQuery ? String(parts[2]) : nil,
                    time: .oldMilliseconds(time), slack: .milliseconds(1)))
        }
    }
}
