internal import HTTPTypes
internal import SluiceCore

/// Reads entities within their tables' rules, with the tables' hooks.
struct EntityReads: Sendable {
    let call: ServiceCall
    private var wire: ServerWire { call.version.wire }

    init(_ call: ServiceCall) { self.call = call }

    /// Reads an existing entity on the way to another.
    ///
    /// - Throws: ``Refusal`` (404) if it is missing or outside of the request's scope.
    func found(_ set: EntitySet, _ id: RecordID) async throws -> Entity {
        let reply = try await RecordReads(call.tableRequest(set, id)).lookup(id)
        guard let entity = Entity(set, reply: reply) else { throw Refusal.missing }
        return entity
    }

    /// Reads one entity by the tables' routes, with the request's conditions.
    func lookup(_ set: EntitySet, _ id: RecordID) async throws -> Reply {
        try await RecordReads(call.tableRequest(set, id, isMain: true)).lookup(id)
    }

    /// Whether a collection link contains the entity.
    func contains(_ id: RecordID, _ set: EntitySet, _ step: ODataTarget.Step) async throws -> Bool {
        var options = QueryOptions(set)
        options.query.filter = .binary(.eq, .column("id"), .literal(.string(id.text)))
        return try await !list(set, options, within: step).entities.isEmpty
    }

    /// Returns the number of a set's entities that match.
    func count(_ set: EntitySet, _ options: QueryOptions, within step: ODataTarget.Step?) async throws -> Int {
        var query = TableQuery(set.table.name, filter: .all(options.query.filter, Self.condition(step, set)), top: 0)
        query.includesCount = true
        query.related = options.query.related
        query = try await seeing(query)
        let parameters = ListParameters(query, later: nil, deltaToken: nil, pageSize: PageSize(records: 1, bytes: .max))
        guard case .records(_, let count?, _) = try await found(set, parameters) else {
            throw Refusal(.internalServerError, "the records were not counted")
        }
        return count
    }

    /// Reads a page of a set's entities, all or a link's targets, without expansions.
    ///
    /// - Parameters:
    ///   - base: the address of the list without its query, for the next and delta links.
    ///   - limit: the most entities, if fewer than the table's page size.
    func list(
        _ set: EntitySet, _ options: QueryOptions, within step: ODataTarget.Step? = nil, base: String? = nil,
        limit: Int? = nil, tracksChanges: Bool = false
    ) async throws -> EntityList {
        var query = options.query
        query.select = options.columns(set)
        query.filter = .all(query.filter, Self.condition(step, set))
        var deltaToken = options.deltaToken
        if let token = options.skipToken {
            query.top = token.top
            query.skip = 0
            if case .rows(let rows) = token.place { query.skip = rows }
            if case .change(let change) = token.place { deltaToken = change }
        }
        if query.related != nil, deltaToken != nil {
            throw Refusal(.notImplemented, "changes are not followed where a filter leads along links")
        }
        query = try await seeing(query)
        let pageSize = PageSize(
            records: min(set.table.rules.pageSize, limit ?? .max),
            bytes: call.served.configuration.limits.pageBytes)
        let parameters = ListParameters(
            query, later: options.skipToken?.condition(set), deltaToken: deltaToken, pageSize: pageSize)
        switch try await found(set, parameters, tracksChanges: tracksChanges && query.related == nil) {
        case .records(let records, let count, let more):
            var list = EntityList(entities: try entities(records, set, options), count: count)
            if let more, let base {
                let place: SkipToken.Start =
                    options.isInOrderOfIDs && !list.entities.isEmpty
                    ? .after(list.entities[list.entities.count - 1].id) : .rows(query.skip + more)
                let token = SkipToken(place, top: query.top.map { $0 - more })
                list.next = Self.link(base, options, without: ["skip", "skiptoken"], ("$skiptoken", token.text))
            }
            return list
        case .changes(let changes):
            var list = EntityList(entities: try entities(changes.records, set, options), count: changes.count)
            list.isDelta = options.deltaToken != nil
            list.gone = changes.gone.compactMap { record in
                record["id"]?.textID.map { ($0, record[SystemColumn.deleted]?.bool == true) }
            }
            guard let base else { return list }
            if changes.isLast {
                let name = call.version == .v2 ? "!deltatoken" : "$deltatoken"
                let value = call.version == .v2 ? "'\(changes.token.text)'" : changes.token.text
                list.delta = Self.link(
                    base, options, without: ["skip", "skiptoken", "deltatoken", "count", "inlinecount"], (name, value))
            } else if options.deltaToken != nil {
                // In a delta answer, each page begins after a change.
                list.next = Self.link(base, options, without: ["deltatoken"], ("$deltatoken", changes.token.text))
            } else {
                let token = SkipToken(.change(changes.token.text), top: nil)
                list.next = Self.link(base, options, without: ["skiptoken"], ("$skiptoken", token.text))
            }
            return list
        }
    }

    private func found(
        _ set: EntitySet, _ parameters: ListParameters, tracksChanges: Bool = false
    ) async throws -> RecordReads.Found {
        do {
            return try await RecordReads(call.tableRequest(set, tracksChanges: tracksChanges)).find(parameters)
        } catch let error as SluiceError where error.code == .unsupported {
            throw Refusal(.notImplemented, error.message)
        }
    }

    /// Returns the query with the request's scopes of all linked tables in its filter and order. A user without access
    /// to one of them may not filter by it either.
    private func seeing(_ query: TableQuery) async throws -> TableQuery {
        guard var related = query.related else { return query }
        var query = query
        for name in try related.used(by: query) {
            guard let set = call.model.set(ofTable: name) else { throw Refusal.missing }
            let session = try await call.tableRequest(set).session(.read)
            var scope = try await session.willRead(query: TableQuery(name))
            if set.table.rules.softDelete {
                scope.narrow(to: .binary(.eq, .column(SystemColumn.deleted), .literal(.bool(false))))
            }
            related.tables[name]?.scope = scope.filter ?? .literal(.bool(true))
        }
        query.related = related
        return query
    }

    private func entities(_ records: [JSON], _ set: EntitySet, _ options: QueryOptions) throws -> [Entity] {
        let records = try ComputedOptions.adding(options.computed, to: records, of: set.table.schema)
        return records.compactMap { record in
            var entity = Entity(set, stored: record, wire)
            entity?.selected = options.selected
            return entity
        }
    }

    /// Returns the condition for the targets of a collection link.
    static func condition(_ step: ODataTarget.Step?, _ set: EntitySet) -> QueryExpression? {
        guard let step, step.link.isCollection else { return nil }
        let type = set.table.schema.column(step.link.column)?.type
        let id = type == .integer ? Int64(step.id.text).map { RecordID.integer($0) } ?? step.id : step.id
        return .binary(.eq, .column(step.link.column), .literal(.id(id)))
    }

    /// Returns an address with the options of a request, without some and with one more.
    static func link(
        _ base: String, _ options: QueryOptions, without left: Set<String>, _ added: (name: String, value: String)
    ) -> String {
        var parts = options.parameters.filter { name, _ in
            let lower = name.lowercased()
            return !left.contains(lower.hasPrefix("$") || lower.hasPrefix("!") ? String(lower.dropFirst()) : lower)
        }
        parts.append(added)
        return base + "?"
            + parts.map {
                "\(PercentEncoding.query($0.name, keeping: "$!"))=\(PercentEncoding.query($0.value, keeping: "()'$,*"))"
            }.joined(separator: "&")
    }
}
