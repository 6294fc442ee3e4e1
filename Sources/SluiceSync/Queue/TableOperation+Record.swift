internal import HTTPTypes
package import SluiceBase
internal import SluiceWire

extension TableOperation {
    /// The table of the store in which operations are kept.
    package static let schema = TableSchema(
        "sluice_operations",
        columns: [
            .init("sequence", .integer), .init("table", .string), .init("record", .string), .init("kind", .string),
            .init("state", .string), .init("revision", .integer), .init("attempts", .integer),
            .init("uncertain", .boolean), .init("createdAt", .date), .init("failure", .json), .init("sent", .json),
            .init("tags", .json), .init("group", .string), .init("mergeable", .boolean),
            .init("failedAttempts", .integer), .init("frozen", .json), .init("notBefore", .date),
            .init("user", .string), .init("headers", .json),
        ],
        indexes: [["table", "record"], ["sequence"], ["group"], ["state"]])

    /// The values of the columns of ``schema``, in their order.
    var values: [ColumnValue] {
        [
            .integer(sequence), .text(table), .text(recordID.text), .text(kind.rawValue), .text(state.rawValue),
            .integer(Int64(revision)), .integer(Int64(attempts)), .boolean(isUncertain), .text(createdAt.description),
            failure.map { .json($0.json) } ?? .null, .json(JSON(sent.map(\.json))),
            tags.isEmpty ? .null : .json(JSON(tags.sorted().map { JSON($0) })), group.map(ColumnValue.text) ?? .null,
            isMergeable ? .null : .boolean(false), failedAttempts > 0 ? .integer(Int64(failedAttempts)) : .null,
            frozen.map(ColumnValue.json) ?? .null, notBefore.map { .text($0.description) } ?? .null,
            user.isEmpty ? .null : .text(user), headers.isEmpty ? .null : .json(headers.json),
        ]
    }

    /// The operation as a record of ``schema``, with null for what it does not have: a store that keeps columns then need
    /// not note which are absent.
    var row: JSON {
        var row: JSON = ["id": JSON(id)]
        for (column, value) in zip(Self.schema.columns, values) { row[column.name] = value.json }
        return row
    }

    /// The operation as a document: the same without what most operations do not have.
    package var record: JSON {
        var record = row
        for name in Self.optionalNames where record[name]?.isNull ?? false { record[name] = nil }
        return record
    }

    private static let optionalNames: [PropertyName] = [
        "tags", "group", "mergeable", "failedAttempts", "frozen", "notBefore", "user", "headers",
    ]

    /// The operation that a record of ``schema`` stands for.
    package init(record: JSON) throws(SluiceError) {
        guard let id = record["id"]?.string, let sequence = record["sequence"]?.int,
            let table = record["table"]?.string, let recordID = record["record"]?.textID,
            let kind = record["kind"]?.string.flatMap(Kind.init),
            let state = record["state"]?.string.flatMap(State.init),
            let revision = record["revision"]?.int, let attempts = record["attempts"]?.int,
            let createdAt = record["createdAt"]?.string.flatMap({ Timestamp($0) })
        else {
            throw SluiceError(
                .storeCorrupt, "the queue holds an operation that cannot be read", operationID: record["id"]?.string)
        }
        self.init(
            id: id, sequence: sequence, table: table, recordID: recordID, kind: kind, createdAt: createdAt)
        self.state = state
        self.revision = Int(revision)
        self.attempts = Int(attempts)
        isUncertain = record["uncertain"]?.bool ?? false
        failure = record["failure"].flatMap(Failure.init(json:))
        sent = (record["sent"]?.elements ?? []).compactMap(SentBody.init(json:))
        tags = Set((record["tags"]?.elements ?? []).compactMap(\.string))
        headers = HTTPFields(json: record["headers"]) ?? [:]
        group = record["group"]?.string
        isMergeable = record["mergeable"]?.bool ?? true
        failedAttempts = record["failedAttempts"]?.int.map(Int.init) ?? 0
        frozen = record["frozen"].flatMap { $0.isNull ? nil : $0 }
        user = record["user"]?.string ?? ""
        notBefore = record["notBefore"]?.string.flatMap { Timestamp($0) }
    }
}

extension TableOperation.Failure {
    var json: JSON {
        var json: JSON = ["code": JSON(code), "message": JSON(message)]
        if let status { json["status"] = JSON(status) }
        if let serverRecord { json["server"] = serverRecord }
        if let request {
            json["wireRequest"] = [
                "method": JSON(request.method), "address": JSON(request.address), "body": request.body,
            ]
        }
        return json
    }

    init?(json: JSON) {
        guard let code = json["code"]?.string, let message = json["message"]?.string else { return nil }
        self.init(
            code: code, message: message, status: json["status"]?.int.map(Int.init), serverRecord: json["server"])
        if let sent = json["wireRequest"], let method = sent["method"]?.string, let address = sent["address"]?.string {
            request = SentRequest(method: method, address: address, body: sent["body"] ?? .null)
        }
    }
}
