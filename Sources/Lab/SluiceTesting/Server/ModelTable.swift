internal import HTTPTypes
internal import SluiceCore

/// A row of the model server.
struct ModelRow {
    var fields: JSON
    var version = ""
    var createdAt: Timestamp
    var updatedAt: Timestamp
    var isDeleted = false
    /// The positions of the row's last change and of its first among all changes.
    var change: Int64 = 0
    var serial: Int64 = 0

    init(id: RecordID, createdAt: Timestamp) {
        fields = ["id": JSON(id)]
        self.createdAt = createdAt
        updatedAt = createdAt
    }

    mutating func merge(_ record: JSON) {
        for (name, value) in record.members ?? [] where !Self.system.contains(name) { fields[name] = value }
    }

    mutating func stamp(_ stamp: ModelStamp) {
        version = stamp.version
        updatedAt = stamp.time
        change = stamp.number
        if serial == 0 { serial = stamp.number }
    }

    var id: RecordID { fields["id"]?.textID ?? "" }

    static let system: Set<PropertyName> = ["version", "createdAt", "updatedAt", "deleted"]

    /// The row in its wire form.
    var wire: JSON {
        var wire = fields
        wire["version"] = JSON(version)
        wire["createdAt"] = JSON(createdAt.text(fractionDigits: 3))
        wire["updatedAt"] = JSON(updatedAt.text(fractionDigits: 3))
        wire["deleted"] = JSON(isDeleted)
        return wire
    }
}

/// A table of the model server, and its answers.
struct ModelTable {
    var rows: [RecordID: ModelRow] = [:]
    var pageSize = 50
    var traits = ModelServer.Traits()
    var epoch = 1

    mutating func answer(_ call: ModelCall, stamp: ModelStamp) -> SyncResponse {
        switch (call.method, call.id) {
        case (.get, nil): return list(call)
        case (.get, "$digest"?) where traits.givesDigests: return digest(call)
        case (.get, let id?):
            guard let row = rows[id], !row.isDeleted else { return .model(404, ["error": "The item does not exist"]) }
            return .model(200, row.wire, version: row.version)
        case (.post, nil): return insert(call, stamp)
        case (.post, let id?):
            return change(id, call, stamp, deletedToo: true, status: 201) { $0.isDeleted = false }
        case (.patch, let id?):
            let body = call.body
            return change(id, call, stamp, status: 200) { $0.merge(body) }
        case (.put, let id?):
            let body = call.body
            return change(id, call, stamp, status: 200) { row in
                row.fields = ["id": JSON(id)]
                row.merge(body)
            }
        case (.delete, let id?): return change(id, call, stamp, status: 204) { $0.isDeleted = true }
        default: return .model(405, ["error": "not that way"])
        }
    }

    private mutating func insert(_ call: ModelCall, _ stamp: ModelStamp) -> SyncResponse {
        guard let id = call.body["id"]?.textID else { return .model(400, ["error": "no id"]) }
        if let row = rows[id] { return .model(409, row.wire, version: row.version) }
        if let reserved = call.body.names.first(where: ModelRow.system.contains) {
            return .model(400, ["error": JSON("Cannot insert item with property '\(reserved)' as it is reserved")])
        }
        var row = ModelRow(id: id, createdAt: stamp.time)
        row.merge(call.body)
        row.stamp(stamp)
        rows[id] = row
        return .model(201, row.wire, version: row.version)
    }

    private mutating func change(
        _ id: RecordID, _ call: ModelCall, _ stamp: ModelStamp, deletedToo: Bool = false, status: Int,
        _ body: (inout ModelRow) -> Void
    ) -> SyncResponse {
        guard var row = rows[id], deletedToo || !row.isDeleted else {
            return .model(404, ["error": "The item does not exist"])
        }
        if let wanted = call.ifMatch, wanted != row.version {
            return .model(412, row.wire, version: row.version)
        }
        body(&row)
        row.stamp(stamp)
        rows[id] = row
        return status == 204 ? .model(204, nil) : .model(status, row.wire, version: row.version)
    }

    private func list(_ call: ModelCall) -> SyncResponse {
        do {
            if traits.issuesChangeTokens, call.tracksChanges { return try changes(call) }
            let query = try call.query()
            let select = (call.parameters["$select"] ?? "").split(separator: ",").map { PropertyName(String($0)) }
            let includeDeleted = call.parameters["__includedeleted"] == "true"
            var matching = rows.values.filter { includeDeleted || !$0.isDeleted }
            if let filter = query.filter {
                let evaluator = try TableQuery.Evaluator(TableQuery("", filter: filter), schema: nil)
                matching = matching.filter { row in
                    // The filter sees the stored time, which is finer than the one on the wire.
                    var record = row.wire
                    record["updatedAt"] = JSON(row.updatedAt.description)
                    return evaluator.matches(record)
                }
            }
            matching.sort { isInOrder($0, $1, query.order) }
            let page = matching.dropFirst(query.skip).prefix(min(query.top ?? pageSize, pageSize))
            let rows = JSON(page.map { TableQuery.Evaluator.selecting(select, from: $0.wire) })
            guard call.parameters["$inlinecount"] == "allpages" else { return .model(200, rows) }
            return .model(200, ["results": rows, "count": JSON(matching.count)])
        } catch {
            return .model(400, ["error": JSON("\(error)")])
        }
    }

    private func isInOrder(_ left: ModelRow, _ right: ModelRow, _ order: [TableQuery.SortKey]) -> Bool {
        guard traits.sorts else { return left.serial < right.serial }
        for key in order {
            if key.column == "updatedAt", left.updatedAt != right.updatedAt {
                return (left.updatedAt < right.updatedAt) != key.descending
            }
            if key.column == "id", order.count == 1 || traits.sortsTiesByID {
                return (left.id < right.id) != key.descending
            }
        }
        return traits.sortsTiesByID ? left.id < right.id : left.serial > right.serial
    }
}

/// Change tokens and digests of the model server.
extension ModelTable {
    /// Returns the changes after a token, or all rows, in the order of their changes.
    func changes(_ call: ModelCall) throws -> SyncResponse {
        let query = try call.query()
        let evaluator = try TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil)
        var from: Int64 = 0
        if let token = call.parameters["$deltatoken"] {
            let parts = token.split(separator: ".")
            guard parts.count == 2, parts[0] == "t\(epoch)", let place = Int64(parts[1]) else {
                return .model(410, ["error": "the token has expired"])
            }
            from = place
        }
        let isFirst = call.parameters["$deltatoken"] == nil
        let changed = rows.values.filter { $0.change > from && (!isFirst || evaluator.matches($0.wire)) }
            .sorted { $0.change < $1.change }.prefix(min(query.top ?? pageSize, pageSize))
        let page = changed.map { row in
            row.isDeleted || evaluator.matches(row.wire) ? row.wire : row.removed
        }
        var response = SyncResponse.model(200, JSON(page))
        let fields = [
            ("Preference-Applied", "odata.track-changes"),
            ("X-Sluice-Delta-Token", "t\(epoch).\(changed.last?.change ?? from)"),
        ]
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { response.head.headerFields[name] = value }
        }
        return response
    }

    /// Returns the digest of the matching rows, as a whole and by ranges.
    func digest(_ call: ModelCall) -> SyncResponse {
        guard let query = try? call.query(),
            let evaluator = try? TableQuery.Evaluator(TableQuery("", filter: query.filter), schema: nil)
        else { return .model(400, ["error": "no such filter"]) }
        let (from, to) = (call.parameters["from"], call.parameters["to"])
        let matching = rows.values.filter { row in
            !row.isDeleted && evaluator.matches(row.wire)
                && from.map { row.id >= RecordID($0) } ?? true
                && to.map { row.id <= RecordID($0) } ?? true
        }.sorted { $0.id < $1.id }
        let size = max(1, (matching.count + 7) / 8)
        let ranges = stride(from: 0, to: matching.count, by: size).map { start -> JSON in
            let part = matching[start..<min(start + size, matching.count)]
            var range = Self.sum(part)
            range["from"] = JSON(part.first?.id ?? "")
            range["to"] = JSON(part.last?.id ?? "")
            return range
        }
        var answer = Self.sum(matching[...])
        answer["ranges"] = JSON(ranges)
        return .model(200, answer)
    }

    private static func sum(_ rows: ArraySlice<ModelRow>) -> JSON {
        var sum = RowDigest()
        for row in rows { sum.add(id: row.id, version: row.version) }
        return ["count": JSON(sum.count), "digest": JSON(sum.text)]
    }
}

extension ModelRow {
    /// The tombstone sent for a row that no longer matches the query.
    var removed: JSON {
        ["id": JSON(id), "version": JSON(version), "deleted": true, "@removed": ["reason": "changed"]]
    }
}
