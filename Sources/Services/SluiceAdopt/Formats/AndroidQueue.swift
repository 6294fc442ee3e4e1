internal import SluiceBase
internal import SluiceSync

extension OldQueue {
    /// Reads the queue of the Android client. A failed operation leaves it until the push ends: after a crash it is among
    /// the errors alone. Whether the others were sent is not stored.
    ///
    /// - Throws: ``SluiceError`` of code `unsupported` for a value that no version writes.
    init(android file: OldFile) throws {
        let kinds: [Int64: TableOperation.Kind] = [0: .insert, 1: .update, 2: .delete]
        var queued: [OldOperation] = []
        var starts: [String] = []
        for row in try file.rows(of: "__operations", by: "\"__queueloadedat\", sequence, rowid") {
            var operation = OldOperation(
                try row.meaning(of: "kind", kinds, "kind of an operation"), table: try row.required("tablename"),
                recordID: RecordID(try row.required("itemid")))
            operation.id = try row.required("id")
            operation.item = try row.json("item")
            if operation.kind == .delete { operation.base = .version(operation.item?.oldVersion) }
            // 1 is never stored; 2 is a failure whose status is not kept.
            operation.sent = try row.meaning(of: "state", [0: .maybe, 2: .maybe], "state of an operation")
            queued.append(operation)
            starts.append(row.text("createdat") ?? "")
        }
        if zip(starts, starts.dropFirst()).contains(where: { $0 > $1 }) {
            notes.append("the device's clock may have been set back: the order of the old queue is in doubt")
        }
        var lost: [OldOperation] = []
        for row in file.has("__errors") ? try file.rows(of: "__errors", by: "createdat, rowid") : [] {
            let id = try row.required("operationid")
            let place = queued.firstIndex { $0.id == id }
            var operation =
                try place.map { queued[$0] }
                ?? OldOperation(
                    row.meaning(of: "operationkind", kinds, "kind of an operation"), table: row.required("tablename"),
                    recordID: RecordID(row.required("itemid")))
            operation.id = id
            if operation.kind == .delete, operation.item == nil {
                operation.item = try row.json("clientitem")
                operation.base = .version(operation.item?.oldVersion)
            }
            operation.message = row.text("errormessage")
            if let status = row.integer("statuscode") { operation.sent = .answered(Int(status)) }
            operation.serverItem =
                OldAnswer.record(row.text("serveritem")) ?? OldAnswer.record(row.text("serverresponse"))
            if let place { queued[place] = operation } else { lost.append(operation) }
        }
        // Those were sent before the rest.
        operations = lost + queued
        for row in file.has("__incrementalpulldata") ? try file.rows(of: "__incrementalpulldata", by: "id") : [] {
            guard let time = Timestamp(row.text("maxupdateddate") ?? "") else {
                throw row.refusal("maxupdateddate", "time")
            }
            tokens.append(OldToken(table: try row.required("id"), query: nil, time: time, isJoined: true))
        }
    }
}
