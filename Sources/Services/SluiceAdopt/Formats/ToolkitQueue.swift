internal import SluiceBase
internal import SluiceSync

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
