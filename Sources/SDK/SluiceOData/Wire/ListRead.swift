internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// Reads rows of a set: a list in the requested order, or the changes.
struct ListRead {
    let transport: ODataTransport
    let set: EntitySet
    let request: SyncRequest
    let form: RowForm
    let query: QueryString

    /// The largest number of the service's pages in one page of the tables wire.
    private static let mostPages = 64
    /// The largest number of pages that are searched for rows by their ids.
    private static let mostPagesByID = 10_000
    /// The number of answers of the largest size that are kept in memory for that search.
    private static let mostKept = 16
    /// The longest filter that is read, in bytes.
    private static let longestFilter = 1 << 16
    /// The parameter for a page that continues at the service's link.
    private static let nextName = "__next"

    init(_ transport: ODataTransport, _ set: EntitySet, _ request: SyncRequest) {
        self.transport = transport
        self.set = set
        self.request = request
        form = RowForm(set: set, version: transport.exchange.version)
        query = QueryString(ofPath: request.head.path ?? "")
    }

    private var exchange: ServiceExchange { transport.exchange }
    private var version: ODataVersion { exchange.version }

    /// Returns the answer to `GET /tables/T`.
    func answer() async throws -> SyncResponse {
        if let token = query["$deltatoken"] { return try await DeltaRead(self).follow(token) }
        let prefer = HTTPField.Name("Prefer").flatMap { request.head.headerFields[$0] } ?? ""
        if prefer.contains("track-changes"), set.tracksChanges, !transport.memory.isUntracked(set.name) {
            if let answer = try await DeltaRead(self).begin() { return answer }
            transport.memory.noteUntracked(set.name)
        }
        return try await list()
    }

    // MARK: Lists

    private func list() async throws -> SyncResponse {
        if set.clientID != nil, let answer = try await listByID() { return answer }
        let top = query["$top"].flatMap { Int($0) }
        if top == 0, query["$count"] == nil { return page([], like: nil) }
        var path: String
        if let link = query[Self.nextName] {
            path = try exchange.path(of: link, to: set)
        } else {
            guard let parameters = try parameters() else { return page([], count: 0, like: nil) }
            path = exchange.path([set.name], parameters)
        }
        var rows: [JSON] = []
        var visited: Set<String> = [path]
        var first: SyncResponse?
        var count: Int64?
        var bytes = 0
        var isMarked = false
        while true {
            let response = try await exchange.send(
                exchange.request(.get, path, for: request, fields: preferences(top: top.map { $0 - rows.count })))
            guard response.status == 200 else { return response }
            first = first ?? response
            bytes += response.body.bytes.count
            let page = try setPage(response)
            isMarked = isMarked || page.isMarked
            count = count ?? page.count
            if selectsPart, page.rows.contains(where: { SetPage.isRow($0) && form.tag(of: $0) == nil }) {
                // Without a tag the version is a digest of the whole row, so the row has to be read completely.
                guard !transport.memory.isUntagged(set.name) else { throw Self.untagged(set.name) }
                transport.memory.noteUntagged(set.name)
                return try await list()
            }
            rows += page.rows.filter(SetPage.isRow).map { form.record(of: $0) ?? form.unnamed($0) }
            guard let link = page.nextLink else {
                return self.page(rows, count: count, like: first, isMarked: isMarked)
            }
            path = try exchange.path(of: link, to: set)
            guard visited.insert(path).inserted else {
                throw SluiceError(.brokenProtocol, "the service's next links lead in a circle", table: set.name)
            }
            // The service's links may count rows from the first one. If a row moves between two pages, the next link
            // leaves another one out. So a pull goes on behind its last row.
            if isOrdered, !rows.isEmpty {
                return self.page(rows, count: count, next: link, like: first, isMarked: isMarked)
            }
            let isFull = top.map { rows.count >= $0 } ?? !rows.isEmpty
            let isLarge = bytes > request.context.limits.responseBytes
            if isFull || isLarge || visited.count > Self.mostPages {
                return self.page(
                    rows, count: count, next: isFull && top != nil ? nil : link, like: first,
                    isMarked: isMarked)
            }
            try Task.checkCancellation()
        }
    }

    /// Whether the rows are those of a pull, in an order by which it can go on from any of them.
    private var isOrdered: Bool { request.context.source == .pull && query["$orderby"] != nil }

    /// Answers a query for rows by their ids, if these are in two properties: the service cannot sort and compare by
    /// both as one, so its rows are read and searched here. Nil for any other query.
    private func listByID() async throws -> SyncResponse? {
        let filter = try filter()
        if case .binary(.eq, .column("id"), .literal(.string(let id))) = filter {
            let response = try await RowRead(transport, set, request).lookup(.string(id))
            if response.status == 404 || response.status == 410 { return page([], like: nil) }
            return response.status == 200 ? page([try response.body.json], like: response) : response
        }
        let order = query["$orderby"] ?? ""
        guard
            order.split(separator: ",").contains(where: { $0.hasPrefix("id") })
                || query["$filter"]?.contains("id") == true
        else { return nil }
        var all = TableQuery(set.name, filter: filter, skip: query["$skip"].flatMap { Int($0) } ?? 0)
        all.top = query["$top"].flatMap { Int($0) }
        all.order = (try? TableQuery.order(odata: order)) ?? []
        let evaluator = try TableQuery.Evaluator(all, schema: nil)
        var rows: [JSON] = []
        var path = exchange.path([set.name])
        var visited: Set<String> = []
        var bytes = 0
        var isMarked = false
        while true {
            guard visited.insert(path).inserted, visited.count <= Self.mostPagesByID else {
                throw SluiceError(.brokenProtocol, "the service's next links lead in a circle", table: set.name)
            }
            let response = try await exchange.send(exchange.request(.get, path, for: request))
            guard response.status == 200 else { return response }
            bytes += response.body.bytes.count
            guard bytes / Self.mostKept <= request.context.limits.responseBytes else {
                throw SluiceError(
                    .tooLarge, "the rows of the set are too many to look through them for their ids", table: set.name)
            }
            let part = try setPage(response)
            isMarked = isMarked || part.isMarked
            rows += part.rows.filter(SetPage.isRow).compactMap { form.record(of: $0) }
            guard let link = part.nextLink else {
                return page(evaluator.apply(to: rows), like: response, isMarked: isMarked)
            }
            path = try exchange.path(of: link, to: set)
            try Task.checkCancellation()
        }
    }

    private static func untagged(_ name: String) -> SluiceError {
        SluiceError(.brokenProtocol, "the service leaves out properties of \(name) that it was asked for", table: name)
    }

    /// Returns the answer in the form of the tables wire.
    private func page(
        _ rows: [JSON], count: Int64? = nil, next: String? = nil, like service: SyncResponse?, isMarked: Bool = false
    ) -> SyncResponse {
        var body: JSON = ["items": JSON(rows)]
        if let count { body["count"] = JSON(count) }
        if let next {
            var address = QueryString(ofPath: request.head.path ?? "")
            address[Self.nextName] = next
            body["nextLink"] = JSON(address.path)
        }
        return ODataTransport.response(200, page: body, like: service, isMarked: isMarked)
    }

    /// Reads the page of an answer. A row with half of an emoji stops no other: it is marked, and set aside later.
    func setPage(_ response: SyncResponse) throws(SluiceError) -> SetPage {
        let (document, isMarked) = try document(response)
        var page = try SetPage(document, table: set.name)
        page.isMarked = isMarked
        return page
    }

    private func document(_ response: SyncResponse) throws(SluiceError) -> (JSON, isMarked: Bool) {
        do throws(SluiceError) {
            return (try SetPage.document(of: response, set), false)
        } catch {
            if let marked = MarkedFaults.marked(response.body.bytes),
                let document = try? MessageBody(bytes: marked, maximumValues: response.body.maximumValues).json
            {
                return (document, true)
            }
            throw error
        }
    }

    func preferences(top: Int?, tracks: Bool = false) -> [(String, String)] {
        var wishes: [String] = []
        if tracks { wishes.append("odata.track-changes") }
        if let top, top > 0 { wishes.append("odata.maxpagesize=\(top)") }
        return wishes.isEmpty ? [] : [("Prefer", wishes.joined(separator: ","))]
    }

    // MARK: Parameters

    /// Whether only a part of each row was requested, and its version with it.
    private var selectsPart: Bool {
        guard let select = query["$select"], !transport.memory.isUntagged(set.name) else { return false }
        return (try? TableQuery.select(odata: select))?.contains("__version") ?? false
    }

    /// Returns the filter as a tree; nil if there is none.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` with the place of a mistake.
    func filter() throws(SluiceError) -> QueryExpression? {
        guard let text = query["$filter"] else { return nil }
        do throws(TableQuery.SyntaxError) {
            return try QueryExpression(odata: text, maximumLength: Self.longestFilter, maximumDepth: 512)
        } catch {
            throw SluiceError(.invalidQuery, "the filter cannot be read: \(error)", table: set.name, cause: error)
        }
    }

    /// Returns the query's parameters in the service's names and forms; nil if no row can match.
    func parameters(tracks: Bool = false) throws(SluiceError) -> [(name: String, value: String)]? {
        var parameters: [(name: String, value: String)] = []
        if let filter = try filter() {
            switch try FilterForm(set: set, version: version).filter(filter) {
            case .all: break
            case .none: return nil
            case .some(let text): parameters.append(("$filter", text))
            }
        }
        for part in query.parts {
            let name = QueryString.name(of: part)
            guard let value = query[name] else { continue }
            switch name {
            case "$filter", "$deltatoken", Self.nextName, "__includeDeleted", "__includedeleted": continue
            case "$orderby":
                if !tracks, let order = try order(value) { parameters.append((name, order)) }
            case "$select":
                if let names = try selection(value) { parameters.append((name, names)) }
            case "$skip", "$top": if !tracks { parameters.append((name, value)) }
            case "$count", "$inlinecount":
                if !tracks, value == "true" || value == "allpages" { parameters.append(version.count) }
            default: parameters.append((name, value))
            }
        }
        return parameters
    }

    private func order(_ text: String) throws(SluiceError) -> String? {
        let keys: [TableQuery.SortKey]
        do throws(TableQuery.SyntaxError) {
            keys = try TableQuery.order(odata: text)
        } catch {
            throw SluiceError(.invalidQuery, "the order cannot be read: \(error)", table: set.name, cause: error)
        }
        var parts: [String] = []
        for key in keys {
            guard let column = key.column else {
                throw SluiceError(
                    .unsupported, "the order by \(key.expression) is not asked of a service: order by properties",
                    table: set.name)
            }
            for name in columns(of: column) where !parts.contains(where: { $0.split(separator: " ")[0] == name }) {
                parts.append(key.descending ? "\(name) desc" : name)
            }
        }
        return parts.isEmpty ? nil : parts.joined(separator: ",")
    }

    private func selection(_ text: String) throws(SluiceError) -> String? {
        if transport.memory.isUntagged(set.name) { return nil }
        let names: [PropertyName]
        do throws(TableQuery.SyntaxError) {
            names = try TableQuery.select(odata: text)
        } catch {
            throw SluiceError(.invalidQuery, "the selection cannot be read: \(error)", table: set.name, cause: error)
        }
        if names.isEmpty { return nil }
        var asked = set.key.map(\.name.text)
        if let name = set.clientID { asked.append(name.text) }
        for name in names.flatMap(columns) where !asked.contains(name) { asked.append(name) }
        return asked.joined(separator: ",")
    }

    /// Returns the service's properties for a column of a record.
    private func columns(of name: PropertyName) -> [String] {
        switch name {
        case "id": (set.clientID.map { [$0.text] } ?? []) + set.key.map(\.name.text)
        case "__updatedAt": set.updatedAt.map { [$0.text] } ?? []
        case "__version", "__deleted": []
        default: [set.property(of: name).text]
        }
    }
}
