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

    /// The operation as a record of ``schema``.
    package var record: JSON {
        var record: JSON = [
            "id": JSON(id), "sequence": JSON(sequence), "table": JSON(table), "record": JSON(recordID),
            "kind": JSON(kind.rawValue), "state": JSON(state.rawValue), "revision": JSON(revision),
            "attempts": JSON(attempts), "uncertain": JSON(isUncertain), "createdAt": JSON(createdAt.description),
            "failure": failure?.json ?? .null, "sent": JSON(sent.map(\.json)),
        ]
        if !tags.isEmpty { record["tags"] = JSON(tags.sorted().map { JSON($0) }) }
        if !headers.isEmpty { record["headers"] = headers.json }
        if let group { record["group"] = JSON(group) }
        if !isMergeable { record["mergeable"] = false }
        if failedAttempts > 0 { record["failedAttempts"] = JSON(failedAttempts) }
        if let frozen { record["frozen"] = frozen }
        if !user.isEmpty { record["user"] = JSON(user) }
        if let notBefore { record["notBefore"] = JSON(notBefore.description) }
        return record
    }

    /// The record with null for what it does not have: a store that keeps columns then need not note which are absent.
    var row: JSON {
        var row = record
        for name in Self.optionalNames where row[name] == nil { row[name] = .null }
        return row
    }

    private static let optionalNames: [PropertyName] = [
        "tags", "group", "mergeable", "failedAttempts", "frozen", "notBefore", "user",
        "headers",
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
