internal import HTTPTypes
internal import SluiceCore
internal import SluiceOData

extension SimulatedServer {
    /// The sort position of a row.
    private struct RowPosition {
        var time: Int64
        var id: RecordID
    }

    /// The request for a list or for its next page.
    private struct ListAsked {
        var query: TableQuery
        var matches: (SimulatedRow) -> Bool
        var size: Int
        /// The version at the first page, where changes are tracked from it.
        var moment: Int?
        var after: RowPosition?
    }

    /// Returns a page of rows or of changes.
    func serviceList(_ request: SyncRequest, _ service: SimulatedService, _ table: String, _ state: State)
        -> SyncResponse
    {
        var inner = request
        let parameters = (request.head.path ?? "").split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        inner.head.path = "/tables/\(table)?\(parameters)"
        let call = ModelCall(inner)
        let prefer = HTTPField.Name("Prefer").flatMap { request.head.headerFields[$0] } ?? ""
        let wished = prefer.split(separator: ",").compactMap { wish -> Int? in
            let parts = wish.split(separator: "=")
            return parts.count == 2 && parts[0].hasSuffix("maxpagesize") ? Int(parts[1]) : nil
        }.first
        do {
            let query = try query(call)
            let evaluator = try query.filter.map { try TableQuery.Evaluator(TableQuery("", filter: $0), schema: nil) }
            var asked = ListAsked(
                query: query, matches: { evaluator?.matches($0.exact) ?? true },
                size: min(pageSize(query.top, state) ?? 0, wished ?? .max))
            if asked.size == 0 { return service.refusal(400, "so many never") }
            if let token = call.parameters["$deltatoken"] ?? call.parameters["!deltatoken"] {
                return serviceChanges(token, asked, call, service, table, state)
            }
            if let token = call.parameters["$skiptoken"] {
                let parts = token.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
                guard parts.count == 4, let time = Int64(parts[2]) else { return service.refusal(400, "no such page") }
                asked.after = RowPosition(time: time, id: .string(String(parts[3])))
                asked.moment = Int(parts[1])
                if asked.moment != nil, Int(parts[0]) != state.epoch {
                    return forgotten(asked, call, service, table, state)
                }
            } else if setting.tracksChanges, query.order.isEmpty, query.top == nil, query.skip == 0,
                service.version == .v2 || prefer.contains("track-changes")
            {
                asked.moment = state.version
            }
            return rows(asked, call, service, table, state)
        } catch {
            return service.refusal(400, "\(error)")
        }
    }

    private func rows(
        _ asked: ListAsked, _ call: ModelCall, _ service: SimulatedService, _ table: String, _ state: State
    ) -> SyncResponse {
        let keys = asked.query.order.map {
            (isTime: $0.column == SimulatedService.time, isID: $0.column == service.key, down: $0.descending)
        }
        guard keys.allSatisfy({ $0.isTime || $0.isID }) else { return service.refusal(400, "not sortable") }
        func isBefore(_ left: RowPosition, _ right: RowPosition) -> Bool {
            for key in keys {
                if key.isTime, left.time != right.time { return (left.time < right.time) != key.down }
                if key.isID, left.id != right.id { return setting.ids.areInOrder(left.id, right.id) != key.down }
            }
            return setting.ids.areInOrder(left.id, right.id)
        }
        let all = (state.tables[table] ?? [:]).values.filter { !$0.isDeleted && asked.matches($0) }
            .map { (row: $0, place: RowPosition(time: $0.place(setting), id: $0.id)) }
            .filter { row in asked.after.map { isBefore($0, row.place) } ?? true }
            .sorted { isBefore($0.place, $1.place) }.dropFirst(asked.after == nil ? asked.query.skip : 0)
        let page = all.prefix(asked.size)
        guard isSendable(page.count) else { return service.refusal(500, "it took too long") }
        let left = asked.query.top.map { $0 - page.count } ?? .max
        var next: String?
        if let last = page.last, all.count > page.count, left > 0 {
            let moment = asked.moment.map { "\($0)" } ?? ""
            let token = "\(state.epoch).\(moment).\(last.place.time).\(last.place.id.text)"
            next = link(table, call, ("$skiptoken", token), top: asked.query.top == nil ? nil : left)
        }
        var delta: String?
        if let moment = asked.moment, next == nil || service.has(.linksEveryPage) {
            // The version at the first page; a service with a link on each page uses that of the page.
            let isOfPage = service.has(.linksEveryPage) || service.has(.linksLastMoment)
            delta = deltaLink(isOfPage ? state.version : moment, call, service, table, state)
        }
        let select = call.parameters["$select"].map { $0.split(separator: ",").map { PropertyName(String($0)) } }
        let isCounted = call.parameters["$count"] == "true" || call.parameters["$inlinecount"] == "allpages"
        let items = page.map { service.entity($0.row.wire, table, only: select) }
        var response = service.page(
            items + gone(asked, service, table, state), table, count: isCounted ? all.count : nil, next: next,
            delta: delta)
        if asked.moment != nil, let name = HTTPField.Name("Preference-Applied") {
            response.head.headerFields[name] = "odata.track-changes"
        }
        return response
    }

    /// Returns the tombstones on a later page of a first read, for rows deleted since it began.
    private func gone(
        _ asked: ListAsked, _ service: SimulatedService, _ table: String, _ state: State
    ) -> [JSON] {
        guard service.has(.entombsAtOnce), let moment = asked.moment, asked.after != nil else { return [] }
        return (state.tables[table] ?? [:]).values.filter { $0.isDeleted && $0.commit > moment }
            .sorted { $0.commit < $1.commit }.map { service.tombstone($0.id, table, isDeleted: true) }
    }

    /// Returns the commits after the token's version, in their order.
    private func serviceChanges(
        _ token: String, _ asked: ListAsked, _ call: ModelCall, _ service: SimulatedService, _ table: String,
        _ state: State
    ) -> SyncResponse {
        let parts = token.filter { $0 != "'" }.split(separator: ".").map { Int($0) ?? -1 }
        guard parts.count == 2, parts[0] == state.epoch, setting.tracksChanges else {
            return forgotten(asked, call, service, table, state)
        }
        let all = (state.tables[table] ?? [:]).values.filter { $0.commit > parts[1] }.sorted { $0.commit < $1.commit }
        let page = all.prefix(asked.size)
        guard isSendable(page.count) else { return service.refusal(500, "it took too long") }
        let items = page.flatMap { row -> [JSON] in
            let item: JSON
            if row.isDeleted {
                item = service.tombstone(row.id, table, isDeleted: true)
            } else if asked.matches(row) || !(service.tellsOfLeavers || service.has(.hidesLeavers)) {
                item = service.entity(row.wire, table)
            } else if service.has(.hidesLeavers) {
                return []
            } else {
                item = service.tombstone(row.id, table, isDeleted: false)
            }
            return service.has(.repeatsChanges) ? [item, item] : [item]
        }
        let last = page.last?.commit ?? parts[1]
        let isWhole = all.count == page.count
        let next = isWhole ? nil : deltaLink(last, call, service, table, state)
        let delta =
            isWhole || service.has(.linksEveryPage) ? deltaLink(last, call, service, table, state) : nil
        return service.page(items, table, count: nil, next: next, delta: delta)
    }

    /// Returns the answer to a link from before the service's restart.
    private func forgotten(
        _ asked: ListAsked, _ call: ModelCall, _ service: SimulatedService, _ table: String, _ state: State
    ) -> SyncResponse {
        if service.has(.emptiesOldLinks) {
            let delta = deltaLink(state.version, call, service, table, state)
            return service.page([], table, count: nil, next: nil, delta: delta)
        }
        let status = service.has(.refusesOldLinks) ? 400 : service.has(.losesOldLinks) ? 404 : 410
        return service.refusal(status, "the link is too old")
    }

    private func deltaLink(
        _ moment: Int, _ call: ModelCall, _ service: SimulatedService, _ table: String, _ state: State
    ) -> String {
        let token = "\(state.epoch).\(moment)"
        return service.version == .v2
            ? link(table, call, ("!deltatoken", "'\(token)'"), keepsFilter: !service.has(.forgetsFilter))
            : link(table, call, ("$deltatoken", token), keepsFilter: !service.has(.forgetsFilter))
    }

    private func link(
        _ table: String, _ call: ModelCall, _ token: (name: String, value: String), top: Int? = nil,
        keepsFilter: Bool = true
    ) -> String {
        var parts = ["\(token.name)=\(SimulatedService.escaped(token.value))"]
        for name in ["$filter", "$orderby", "$select"] where name != "$filter" || keepsFilter {
            if let value = call.parameters[name] { parts.append("\(name)=\(SimulatedService.escaped(value))") }
        }
        if let top { parts.append("$top=\(top)") }
        return "\(table)?\(parts.joined(separator: "&"))"
    }
}
