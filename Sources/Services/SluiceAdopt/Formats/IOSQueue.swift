internal import SluiceBase
internal import SluiceSync

extension OldQueue {
    /// Reads the queue of the iOS client from Core Data's tables. It has no states: an operation without an error may have
    /// been applied. A delete has the record that the application passed, perhaps an id alone.
    ///
    /// - Throws: ``SluiceError`` of code `unsupported` for a value that no version writes.
    init(ios file: OldFile) throws {
        var places: [Int64: Int] = [:]
        for row in try file.rows(of: "ZMS_TABLEOPERATIONS", by: "\"ZID\", \"Z_PK\"") {
            guard let number = row.integer("ZID") else { throw row.refusal("ZID", "number of an operation") }
            guard row.integer("ZTABLEKIND") ?? 0 == 0 else { throw row.refusal("ZTABLEKIND", "kind of a table") }
            let properties = try row.json("ZPROPERTIES") ?? .object
            guard let type = properties["type"]?.int,
                let kind = [0: .insert, 1: .update, 2: .delete][type] as TableOperation.Kind?
            else { throw row.refusal("ZPROPERTIES", "kind of an operation") }
            var operation = OldOperation(
                kind, table: try row.required("ZTABLE"), recordID: RecordID(try row.required("ZITEMID")))
            operation.number = number
            if kind == .delete {
                operation.item = properties["item"]
                operation.base = .version(operation.item?.oldVersion)
            }
            places[number] = operations.count
            operations.append(operation)
        }
        for row in try file.rows(of: "ZMS_TABLEOPERATIONERRORS", by: "\"Z_PK\"") {
            guard let place = row.integer("ZOPERATIONID").flatMap({ places[$0] }),
                let error = try row.json("ZPROPERTIES")
            else {
                notes.append("an error is of an operation that is not in the old queue")
                continue
            }
            operations[place].message = error["description"]?.string
            if let status = error["statusCode"]?.int, status > 0 { operations[place].sent = .answered(Int(status)) }
            operations[place].serverItem = error["serverItem"].flatMap { $0.kind == .object ? $0 : nil }
        }
        for row in file.has("ZMS_TABLECONFIG") ? try file.rows(of: "ZMS_TABLECONFIG", by: "\"Z_PK\"") : [] {
            guard row.integer("ZKEYTYPE") == 0 else { throw row.refusal("ZKEYTYPE", "kind of a setting") }
            guard let time = Timestamp(row.text("ZVALUE") ?? "") else { throw row.refusal("ZVALUE", "time") }
            tokens.append(
                OldToken(
                    table: try row.required("ZTABLE"), query: try row.required("ZKEY"),
                    time: time.ticks > 0 ? time : nil))
        }
    }
}
