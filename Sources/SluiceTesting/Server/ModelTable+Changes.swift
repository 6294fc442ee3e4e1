internal import HTTPTypes
internal import SluiceCore

/// What a model server with change tokens and digests answers.
extension ModelTable {
    /// The changes after a token, or all rows, in the order in which they were made.
    func changes(_ call: ModelCall) throws -> Response {
        let query = try call.query()
        let evaluator = try QueryEvaluator(Query("", filter: query.filter), schema: nil)
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
        var response = Response.model(200, JSON(page))
        let fields = [
            ("Preference-Applied", "odata.track-changes"),
            ("X-Sluice-Delta-Token", "t\(epoch).\(changed.last?.change ?? from)"),
        ]
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { response.head.headerFields[name] = value }
        }
        return response
    }

    /// The digest of the rows that match, whole and by ranges.
    func digest(_ call: ModelCall) -> Response {
        guard let query = try? call.query(),
            let evaluator = try? QueryEvaluator(Query("", filter: query.filter), schema: nil)
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
    /// What is said of a row that a query no longer has.
    var removed: JSON {
        ["id": JSON(id), "version": JSON(version), "deleted": true, "@removed": ["reason": "changed"]]
    }
}
