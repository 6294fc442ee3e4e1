internal import HTTPTypes
internal import SluiceCore

extension SimulatedServer {
    /// Returns a page of rows, or of changes where the device uses change tokens.
    func list(_ call: ModelCall, _ table: String, _ state: State) -> SyncResponse {
        do {
            let query = try query(call)
            let matches = try matches(query)
            guard let size = pageSize(query.top, state) else { return .model(400, ["error": "so many never"]) }
            if setting.tracksChanges, call.tracksChanges || call.parameters["$deltatoken"] != nil {
                return changes(since: call.parameters["$deltatoken"], size, table, matches, state)
            }
            let showsDeleted = call.parameters[dialect.includeDeleted.name.lowercased()] == "true"
            var rows = (state.tables[table] ?? [:]).values.filter { (showsDeleted || !$0.isDeleted) && matches($0) }
            guard sort(&rows, query.order) else { return .model(400, ["error": "not sortable"]) }
            let page = rows.dropFirst(query.skip).prefix(size).map(\.wire)
            guard isSendable(page.count) else { return .model(500, ["error": "it took too long"]) }
            return respond(call.parameters["$select"].map { select in page.map { only($0, select) } } ?? page)
        } catch {
            return .model(400, ["error": JSON("\(error)")])
        }
    }

    private func matches(_ query: TableQuery) throws -> (SimulatedRow) -> Bool {
        let evaluator = try query.filter.map { try TableQuery.Evaluator(TableQuery("", filter: $0), schema: nil) }
        return { evaluator?.matches($0.exact) ?? true }
    }

    /// Returns the digest of the rows of a query, or of those between two ids.
    func digest(_ call: ModelCall, _ table: String, _ state: State) -> SyncResponse {
        guard let matches = try? matches(query(call)) else { return .model(400, ["error": "no such query"]) }
        let (from, to) = (RecordID(call.parameters["from"] ?? ""), RecordID(call.parameters["to"] ?? "~"))
        let rows = (state.tables[table] ?? [:]).values.filter {
            !$0.isDeleted && matches($0) && $0.id >= from && $0.id <= to
        }.sorted { $0.id < $1.id }
        func sum(_ rows: some Sequence<SimulatedRow>) -> [(name: String, value: JSON)] {
            var sum = RowDigest()
            for row in rows { sum.add(id: row.id, version: "v\(row.version)") }
            return [("count", JSON(sum.count)), ("digest", JSON(sum.text))]
        }
        let ranges = stride(from: 0, to: rows.count, by: 3).map { start in
            let range = rows[start..<min(start + 3, rows.count)]
            return JSON(members: [("from", JSON(range[start].id)), ("to", JSON(range.last?.id ?? ""))] + sum(range))
        }
        return .model(200, JSON(members: sum(rows) + [("ranges", JSON(ranges))]))
    }

    private func respond(_ rows: [JSON]) -> SyncResponse {
        .model(200, dialect.odata == .v4 ? ["items": JSON(rows)] : JSON(rows))
    }

    private func only(_ row: JSON, _ select: String) -> JSON {
        let names = select.split(separator: ",").map { $0.filter { $0 != " " } }
        return JSON(members: names.compactMap { name in row[name].map { (name, $0) } })
    }

    private func sort(_ rows: inout [SimulatedRow], _ order: [TableQuery.SortKey]) -> Bool {
        let (updatedAt, id) = (dialect.columns.updatedAt, dialect.columns.id)
        guard order.allSatisfy({ $0.column == updatedAt || $0.column == id }) else { return false }
        // Another order each time, but never the order of the ids: a device would take the server for one that sorts by
        // id.
        let turn = setting.traits.contains(.shufflesTies) ? 1 + random.below(max(1, rows.count - 1)) : 0
        let ids = setting.ids
        if turn > 0 { rows = Self.turned(rows.sorted { ids.areInOrder($0.id, $1.id) }, by: turn) }
        let places = turn > 0 ? Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($1.id, $0) }) : [:]
        func isBefore(_ left: SimulatedRow, _ right: SimulatedRow) -> Bool {
            turn > 0
                ? places[left.id, default: 0] < places[right.id, default: 0]
                : ids.areInOrder(left.id, right.id)
        }
        rows.sort { left, right in
            for key in order {
                let times = (left.place(setting), right.place(setting))
                if key.column == updatedAt, times.0 != times.1 { return (times.0 < times.1) != key.descending }
                if key.column == id, setting.breaksTies && turn == 0 || order.count == 1, left.id != right.id {
                    return ids.areInOrder(left.id, right.id) != key.descending
                }
            }
            return isBefore(left, right)
        }
        return true
    }

    private static func turned(_ rows: [SimulatedRow], by turn: Int) -> [SimulatedRow] {
        guard !rows.isEmpty else { return rows }
        return Array(rows[(turn % rows.count)...] + rows[..<(turn % rows.count)])
    }

    /// Returns the rows committed after a token, in the order of their commits. A row that does not match the query
    /// comes as a tombstone.
    private func changes(
        since token: String?, _ size: Int, _ table: String, _ matches: (SimulatedRow) -> Bool, _ state: State
    ) -> SyncResponse {
        let parts = (token ?? "\(state.epoch).0").split(separator: ".").map { Int($0) ?? -1 }
        guard parts.count == 2, parts[0] == state.epoch else { return .model(410, ["error": "the token is too old"]) }
        let rows = (state.tables[table] ?? [:]).values.filter { $0.commit > parts[1] && (token != nil || matches($0)) }
            .sorted { $0.commit < $1.commit }.prefix(size)
        guard isSendable(rows.count) else { return .model(500, ["error": "it took too long"]) }
        var response = respond(
            rows.map { row in
                if matches(row) { return row.wire }
                var gone: JSON = ["id": JSON(row.id), "@removed": ["reason": "changed"]]
                gone[dialect.columns.deleted] = true
                return gone
            })
        for (name, value) in [
            ("Preference-Applied", "odata.track-changes"),
            ("X-Sluice-Delta-Token", "\(state.epoch).\(rows.last?.commit ?? parts[1])"),
        ] {
            if let name = HTTPField.Name(name) { response.head.headerFields[name] = value }
        }
        return response
    }
}
