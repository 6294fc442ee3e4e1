internal import SluiceBase
internal import SluiceSync

extension OldQueue {
    /// Reads the queue of the JavaScript client. It has no states: every operation may have been applied. Inserts and
    /// updates have no content, and deletes have the version alone.
    ///
    /// - Throws: ``SluiceError`` of code `unsupported` for a value that no version writes.
    init(javascript file: OldFile) throws {
        let hasVersions = file.has("__operations", "metadata")
        for row in try file.rows(of: "__operations", by: "id") {
            guard
                let kind = ["insert": .insert, "update": .update, "delete": .delete][try row.required("action")]
                    as TableOperation.Kind?
            else { throw row.refusal("action", "kind of an operation") }
            var operation = OldOperation(
                kind, table: try row.required("tableName"), recordID: RecordID(try row.required("itemId")))
            operation.number = row.integer("id") ?? 0
            if hasVersions {
                operation.base = .version(try row.json("metadata")?.oldVersion)
            } else if kind == .delete {
                operation.base = .version(nil)
            }
            operations.append(operation)
        }
        for row in try file.rows(of: "__pulltime", by: "id") {
            guard let time = row.integer("value") else { throw row.refusal("value", "time") }
            // Rounded to a millisecond, so the half before it is asked for again.
            tokens.append(
                OldToken(
                    table: try row.required("tableName"), query: try row.required("id"),
                    time: .oldMilliseconds(time), slack: .milliseconds(1)))
        }
    }
}
