internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// Follows a set's changes by the service's delta links, and reports them with the tables wire's change tokens.
struct DeltaRead {
    private let list: ListRead
    private let transport: ODataTransport
    private let set: EntitySet
    private let form: RowForm

    /// The largest number of pages without rows that are skipped.
    private static let mostPages = 1000

    init(_ list: ListRead) {
        self.list = list
        (transport, set, form) = (list.transport, list.set, list.form)
    }

    private var exchange: ServiceExchange { transport.exchange }

    /// Requests the first page of a read that follows changes; nil if the service does not track changes.
    func begin() async throws -> SyncResponse? {
        guard let parameters = try list.parameters(tracks: true) else { return nil }
        // For a query by time, this tests whether the service issues delta links by now.
        return try await read(.page(exchange.path([set.name], parameters), changes: nil), isFirst: true)
    }

    /// Requests the page after a token.
    func follow(_ text: String) async throws -> SyncResponse {
        guard let token = DeltaToken(text) else {
            return ODataTransport.refusal(410, "the change token is of no use here")
        }
        // An answer without a token makes the pull start over.
        return try await read(token, isFirst: false) ?? answer(Changes(), token: nil, like: nil)
    }

    /// The rows of a page.
    private struct Changes {
        var rows: [JSON] = []
        /// Whether the page reported a change that could not be resolved here.
        var hasGap = false
        /// Whether it contains marks: see ``MarkedFaults``.
        var isMarked = false
    }

    private func read(_ start: DeltaToken, isFirst: Bool) async throws -> SyncResponse? {
        var token = start
        var visited: Set<String> = []
        while true {
            let (link, isOfChanges, kept) = token.parts
            let path = try exchange.path(of: link, to: set)
            guard visited.insert(path).inserted, visited.count <= Self.mostPages else {
                throw SluiceError(.brokenProtocol, "the service's links lead in a circle", table: set.name)
            }
            let response = try await exchange.send(
                exchange.request(
                    .get, path, for: list.request,
                    // Some services apply the preferences only to the page of that request.
                    fields: list.preferences(top: list.query["$top"].flatMap { Int($0) }, tracks: true)))
            guard response.status == 200 else { return refusal(response, isFirst: isFirst) }
            let page = try list.setPage(response)
            let delta = kept ?? page.deltaLink
            guard isFirst, token == start else {
                var changes = try await changes(page, isOfChanges: isOfChanges)
                guard let next = next(page, delta, isOfChanges) else { return nil }
                // A delta link on the last of several pages may omit changes of the earlier ones.
                if token.isPage, kept == nil, !next.isPage { changes.hasGap = true }
                // Another link than the first one: this page may show an older state, from a replica that lags.
                if !isOfChanges, let kept, let own = page.deltaLink, own != kept { changes.hasGap = true }
                // Changes made while pages were read follow after the link. They belong to the same pull, which may
                // have started over in between, and which an answer without rows would end.
                if changes.rows.isEmpty, !changes.hasGap, next.isPage || token.isPage {
                    token = next
                    continue
                }
                if case .page = start { return answer(changes, token: next, like: response, goesOn: true) }
                return answer(changes, token: next, like: response)
            }
            let applied = HTTPField.Name("Preference-Applied").flatMap { response.head.headerFields[$0] } ?? ""
            let follows =
                delta != nil || applied.contains("track-changes")
                || (exchange.version == .v2 && page.nextLink != nil)
            guard follows, let next = next(page, delta, false) else { return nil }
            let changes = try await changes(page, isOfChanges: false)
            if changes.rows.isEmpty, case .page = next {
                token = next
                continue
            }
            return answer(changes, token: next, like: response)
        }
    }

    /// Returns the continuation of the read; nil if the service gives no link to later changes.
    private func next(_ page: SetPage, _ delta: String?, _ isOfChanges: Bool) -> DeltaToken? {
        if let link = page.nextLink { return .page(link, changes: delta, ofChanges: isOfChanges) }
        return delta.map { .changes($0) }
    }

    /// Converts a refusal. A refused link means that the service has forgotten its token. A refused first read means
    /// that the service does not track changes.
    private func refusal(_ response: SyncResponse, isFirst: Bool) -> SyncResponse? {
        if isFirst { return [400, 406, 501].contains(response.status) ? nil : response }
        guard [400, 404, 410].contains(response.status) else { return response }
        var refusal = response
        refusal.head.status = .gone
        return refusal
    }

    private func answer(
        _ changes: Changes, token: DeltaToken?, like service: SyncResponse?, goesOn: Bool = false
    ) -> SyncResponse {
        var response = ODataTransport.response(
            200, page: ["items": JSON(changes.rows)], like: service, isMarked: changes.isMarked)
        if let token {
            var isLast = false
            if case .changes = token { isLast = !goesOn }
            ChangeTokens.answer(&response, token: token.text, isLast: isLast, hasGap: changes.hasGap)
        }
        return response
    }

    // MARK: The changes of a page

    private func changes(_ page: SetPage, isOfChanges: Bool) async throws -> Changes {
        var changes = Changes()
        changes.isMarked = page.isMarked
        // Services forget the filter in a delta link, so the query's filter is applied here.
        let isFiltered = try list.filter() != nil
        let isOfQuery: (JSON) -> Bool = try isOfChanges ? condition() : { _ in true }
        for item in page.rows {
            switch SetPage.change(item) {
            case .link: continue
            case .gone(let address, let left):
                // If rows are identified by a property, the address does not name the record; a reconcile finds the
                // deletion.
                guard let key = key(of: item, address), set.clientID == nil else {
                    changes.hasGap = true
                    continue
                }
                // Without a reason a row that has left the filter looks like a deleted one. Other queries may hold it.
                changes.rows.append(left ?? isFiltered ? form.leaver(key) : form.tombstone(key))
            case .row where !isOfChanges: changes.rows.append(form.record(of: item) ?? form.unnamed(item))
            case .row:
                guard isOfSet(item) else { continue }
                let (found, isSure) = try await whole(item)
                if !isSure { changes.hasGap = true }
                guard let record = found else { continue }
                if isOfQuery(record) {
                    changes.rows.append(record)
                } else if let id = record["id"]?.textID {
                    changes.rows.append(form.leaver(id))
                }
            }
        }
        return changes
    }

    /// Returns a test whether a record matches the query, by the filter in the service's terms, as it was sent. If rows
    /// have ids of their own, the filter is applied to the record, since only the record has the id.
    private func condition() throws -> (JSON) -> Bool {
        guard var filter = try list.filter() else { return { _ in true } }
        let isOfRecords = set.clientID != nil
        if !isOfRecords { filter = try FilterForm(set: set, version: form.version).simplified(filter) }
        let evaluator = try TableQuery.Evaluator(TableQuery(set.name, filter: filter), schema: nil)
        return { [form] record in evaluator.matches(isOfRecords ? record : form.entity(of: record)) }
    }

    /// Returns the key of a deleted row: from its address, else from the item's own properties.
    private func key(of item: JSON, _ address: String?) -> EntityKey? {
        address.flatMap { EntityKey(address: $0, in: set) } ?? EntityKey(row: item, in: set, version: form.version)
            ?? item["id"]?.string.flatMap { EntityKey(address: $0, in: set) }
    }

    /// Whether an item is a row of this set: an answer may contain expanded rows of others.
    private func isOfSet(_ item: JSON) -> Bool {
        guard let context = (item["@odata.context"] ?? item["@context"])?.string,
            let fragment = context.split(separator: "#", maxSplits: 1).dropFirst().first
        else { return true }
        return fragment.prefix { $0 != "/" && $0 != "(" } == set.name
    }

    /// Returns the record of a row; reads it if the change shows only a part of the row. Nil if that is impossible.
    ///
    /// - Returns: the record, and whether it is the change's. A copy of the service's data may lag: it then has the row
    ///   in another version, or not at all.
    private func whole(_ item: JSON) async throws -> (record: JSON?, isSure: Bool) {
        let isWhole =
            list.query["$select"] != nil
            || (set.types.keys.allSatisfy { item[$0] != nil } && set.structured.keys.allSatisfy { item[$0] != nil })
        if isWhole, let record = form.record(of: item) { return (record, true) }
        let address = (item["@id"] ?? item["@odata.id"])?.string
        let key =
            EntityKey(row: item, in: set, version: form.version) ?? address.flatMap { EntityKey(address: $0, in: set) }
        guard let key else { return (nil, false) }
        let response = try await RowRead(transport, set, list.request).read(key, as: nil)
        if response.status == 404 || response.status == 410 { return (form.tombstone(key), false) }
        if let refusal = ServiceRefusal(response) { throw refusal }
        guard response.status == 200 else { return (form.record(of: item), true) }
        let record = try response.body.json
        let tag = (item["@odata.etag"] ?? item["@etag"] ?? item["__metadata"]?["etag"])?.string
        guard let tag, let version = record["__version"]?.string else { return (record, true) }
        return (record, RowChange.isSame(tag, version))
    }
}

/// The continuation of a read that follows changes, in the text form that a pull saves.
///
/// A read by delta links is a chain of pages, each linking to the next, and at its end a link to later changes. A pull
/// saves one token after each page, for the next page or for the later changes.
enum DeltaToken: Sendable, Hashable {
    /// The next page, and the first delta link on an earlier page. Some services put one on every page, and the later
    /// ones omit changes made while the pages were read. `ofChanges`: the page belongs to a delta link's answer.
    case page(String, changes: String?, ofChanges: Bool = false)
    /// The changes since then.
    case changes(String)

    /// Reads a saved token; nil if it is not valid.
    init?(_ text: String) {
        guard let json = try? JSON(parsing: Array(text.utf8)) else { return nil }
        if let link = json["next"]?.string {
            self = .page(link, changes: json["changes"]?.string, ofChanges: json["delta"]?.bool ?? false)
        } else if let link = json["changes"]?.string {
            self = .changes(link)
        } else {
            return nil
        }
    }

    /// Whether it is a page in the middle of a read.
    var isPage: Bool { if case .page = self { true } else { false } }

    /// The link to request, whether it answers with changes, and the delta link that is kept for the end.
    var parts: (link: String, isOfChanges: Bool, kept: String?) {
        switch self {
        case .page(let link, let changes, let ofChanges): (link, ofChanges, changes)
        case .changes(let link): (link, true, nil)
        }
    }

    /// The token as text: ASCII, as header fields require.
    var text: String {
        var json = JSON.object
        func ascii(_ link: String) -> JSON {
            JSON(PercentEncoding.mended(String(link.unicodeScalars.prefix { $0 != "#" })))
        }
        switch self {
        case .page(let link, let changes, let ofChanges):
            json["next"] = ascii(link)
            if let changes { json["changes"] = ascii(changes) }
            if ofChanges { json["delta"] = JSON(true) }
        case .changes(let link): json["changes"] = ascii(link)
        }
        return String(decoding: json.bytes(), as: UTF8.self)
    }
}
