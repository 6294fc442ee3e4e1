internal import HTTPTypes
internal import SluiceCore
internal import SluiceOData

/// Answers the reading requests of an OData service.
struct ReadRoutes: Sendable {
    let call: ServiceCall
    private var version: ServiceVersion { call.version }
    private var reads: EntityReads { EntityReads(call) }

    init(_ call: ServiceCall) { self.call = call }

    func reply(_ place: ODataTarget) async throws -> ODataReply {
        switch (place.subject, place.suffix) {
        case (.list(let set, let step), .count): return try await count(set, step)
        case (.list(let set, let step), let suffix): return try await list(set, step, suffix)
        case (.entity(let set, let id, _), .references): return try await reference(set, id)
        case (.entity(let set, let id, _), _): return try await entity(set, id)
        case (.nothing, _):
            // OData 4.01 Protocol, section 11.2.4; OData v2 knows no such answer.
            if version == .v2 { throw Refusal.missing }
            return ODataReply(.noContent)
        case (.property(let set, let id, let name), let suffix):
            return try await property(set, id, name, isValue: suffix == .value)
        case (.operation, _): throw Refusal(.badRequest, "an operation is called by itself")
        }
    }

    // MARK: Entities

    private func list(
        _ set: EntitySet, _ step: ODataTarget.Step?, _ suffix: ODataTarget.Suffix?
    ) async throws -> ODataReply {
        let options = try QueryOptions(call, set)
        let format = try call.entityFormat()
        if options.isApplied, suffix == nil { return try await AppliedReads(call).reply(set, step, format) }
        let base = call.target.origin + call.target.clientPath
        let tracksChanges =
            call.preferences.tracksChanges && options.query.top == nil && options.query.skip == 0
            && options.query.order.isEmpty && options.expansions.isEmpty && suffix == nil
        var list = try await reads.list(
            set, options, within: step, base: base, limit: call.preferences.pageSize, tracksChanges: tracksChanges)
        if options.deltaToken != nil, !options.expansions.isEmpty {
            throw Refusal(.notImplemented, "what has changed is told without $expand")
        }
        if suffix == .references {
            for index in list.entities.indices { list.entities[index].isReference = true }
        } else {
            var expander = Expander(call)
            list.entities = try await expander.expand(list.entities, options)
        }
        var reply = document(list, set, options, format, title: set.name, isReferences: suffix == .references)
        if let size = call.preferences.pageSize {
            reply.applied("odata.maxpagesize=\(min(size, set.table.rules.pageSize))")
        }
        if tracksChanges, list.delta != nil || list.next != nil { reply.applied("odata.track-changes") }
        return reply
    }

    /// Returns the answer with a list.
    func document(
        _ list: EntityList, _ set: EntitySet, _ options: QueryOptions, _ format: AnswerFormat, title: String,
        isReferences: Bool
    ) -> ODataReply {
        if format.media == .atom {
            return ODataReply(
                .ok, .text(RowsAtom(call).document(list, of: set, title: title)),
                type: "application/atom+xml;type=feed;charset=utf-8")
        }
        let json =
            version == .v2
            ? RowsV2(call).document(list, of: set)
            : RowsV4(call, format).document(list, of: set, selected: options.selected, isReferences: isReferences)
        return ODataReply(.ok, .json(json), type: format.type(version))
    }

    private func count(_ set: EntitySet, _ step: ODataTarget.Step?) async throws -> ODataReply {
        let options = try QueryOptions(call, set)
        // A count is plain text, regardless of `Accept`.
        return ODataReply(.ok, .text(String(try await reads.count(set, options, within: step))), type: "text/plain")
    }

    private func entity(_ set: EntitySet, _ id: RecordID) async throws -> ODataReply {
        let options = try QueryOptions(call, set)
        let format = try call.entityFormat()
        let found = try await reads.lookup(set, id)
        guard var entity = Entity(set, reply: found) else {
            // The client already has the current version.
            return ODataReply(.notModified).tagged(found.headers[.eTag])
        }
        entity.selected = options.selected
        var expander = Expander(call)
        guard let expanded = try await expander.expand([entity], options).first else { throw Refusal.missing }
        return document(expanded, .ok, format)
    }

    /// Returns the answer with one entity.
    func document(_ entity: Entity, _ status: HTTPResponse.Status, _ format: AnswerFormat) -> ODataReply {
        var reply: ODataReply
        if format.media == .atom {
            reply = ODataReply(
                status, .text(RowsAtom(call).document(entity)), type: "application/atom+xml;type=entry;charset=utf-8")
        } else {
            let json =
                version == .v2 ? RowsV2(call).document(entity) : RowsV4(call, format).document(entity)
            reply = ODataReply(status, .json(json), type: format.type(version))
        }
        reply.headers[.eTag] = entity.etag
        return reply
    }

    private func reference(_ set: EntitySet, _ id: RecordID) async throws -> ODataReply {
        let format = try call.entityFormat()
        var entity = try await reads.found(set, id)
        entity.isReference = true
        var reply = document(entity, .ok, format)
        reply.headers[.eTag] = nil
        return reply
    }

    // MARK: Properties

    private func property(
        _ set: EntitySet, _ id: RecordID, _ name: String, isValue: Bool
    ) async throws -> ODataReply {
        let found = try await reads.lookup(set, id)
        guard let entity = Entity(set, reply: found) else {
            return ODataReply(.notModified).tagged(found.headers[.eTag])
        }
        guard let (_, value, property) = entity.shown.first(where: { $0.name == name }),
            property != nil || version != .v2
        else { throw Refusal(.notFound, "\(set.name) has no property \(name)") }
        if isValue {
            guard let text = ValueForm.text(value) else {
                if version == .v2 { throw Refusal(.notFound, "the property \(name) is null") }
                return ODataReply(.noContent)
            }
            return ODataReply(.ok, .text(text), type: "text/plain;charset=utf-8").tagged(found.headers[.eTag])
        }
        let format = version == .v2 ? try call.format(.json, .xml, .atom) : try call.format(.json)
        if format.media != .json {
            var xml = XMLWriter()
            RowsAtom.property(value, name, property?.type ?? .string, &xml)
            return ODataReply(.ok, .text(xml.text), type: "application/xml;charset=utf-8")
        }
        let written = ValueForm.written(value, property, version, ieee754: format.isIEEE754Compatible)
        if version == .v2 {
            return ODataReply(.ok, .json(["d": [name: written]]), type: format.type(version))
        }
        if value.isNull { return ODataReply(.noContent) }
        let context = RowsV4(call, format).contextMember("\(set.address(id, version))/\(name)")
        return ODataReply(
            .ok, .json(JSON(members: context + [("value", written)])), type: format.type(version)
        ).tagged(found.headers[.eTag])
    }
}

extension ODataReply {
    /// Returns the answer with an entity's weak tag, made from the strong one of the tables' routes.
    func tagged(_ strong: String?) -> ODataReply {
        var reply = self
        reply.headers[.eTag] = strong.map { "W/" + $0 }
        return reply
    }
}

/// Answers a list with `$apply`: an aggregation of the entities within the request's scope. (OData Extension for Data
/// Aggregation 4.0.)
///
/// The entities are read with the rules and hooks of a list, so that no sum includes hidden records.
struct AppliedReads: Sendable {
    private let call: ServiceCall

    /// The most aggregated entities.
    private static let most = 50_000

    init(_ call: ServiceCall) { self.call = call }

    /// - Throws: ``Refusal``: 400 with the reason and the place, 501 for an unsupported transformation.
    func reply(_ set: EntitySet, _ step: ODataTarget.Step?, _ format: AnswerFormat) async throws -> ODataReply {
        let values = call.target.parameters.filter { name, _ in
            name.hasPrefix("@") || name.hasPrefix("$") && name.lowercased() != "$format"
                || call.version == .v401 && name.lowercased() == "apply"
        }
        do {
            let options = try ODataOptions(values)
            guard options.expand.isEmpty, options.skipToken == nil, options.deltaToken == nil else {
                throw Refusal(.notImplemented, "$apply goes with $filter, $orderby, $select, $skip, $top and $compute")
            }
            let schema = TableSchema(
                set.name, columns: set.properties.dropFirst().map { TableSchema.Column($0.column, $0.columnType) })
            let read = try ODataRead(options, of: schema)
            let records = try await records(of: set, step)
            var query = read.query
            query.select = []
            let begun = try TableQuery.Evaluator(query, schema: schema).apply(to: records)
            let rows = try read.answer(begun)
            var members = RowsV4(call, format).contextMember(set.name)
            if options.count == true {
                var all = options
                (all.skip, all.top) = (nil, nil)
                members.append(("@odata.count", JSON(try ODataRead(all, of: schema).answer(begun).count)))
            }
            members.append(("value", JSON(rows)))
            return ODataReply(.ok, .json(JSON(members: members)), type: format.type(call.version))
        } catch let error as TableQuery.SyntaxError {
            throw Refusal(error.isUnsupported ? .notImplemented : .badRequest, "$apply: \(error)")
        } catch let error as SluiceError where [.invalidQuery, .unsupported].contains(error.code) {
            throw Refusal(error.code == .unsupported ? .notImplemented : .badRequest, error.message)
        }
    }

    /// Returns all entities within the request's scope, in their shown form.
    private func records(of set: EntitySet, _ step: ODataTarget.Step?) async throws -> [JSON] {
        let query = TableQuery(set.table.name, filter: EntityReads.condition(step, set))
        let parameters = ListParameters(
            query, later: nil, deltaToken: nil, pageSize: PageSize(records: Self.most, bytes: .max))
        guard
            case .records(let records, _, let more) = try await RecordReads(call.tableRequest(set)).find(parameters)
        else { throw Refusal(.internalServerError, "the records were not read") }
        guard more == nil else {
            throw Refusal(.badRequest, "$apply brings together at most \(Self.most) entities, and \(set.name) has more")
        }
        return records.compactMap { Entity(set, stored: $0, call.version.wire)?.record }
    }
}

extension EntitySet.Property {
    /// The corresponding column type of a store.
    fileprivate var columnType: TableSchema.ColumnType {
        if isJSON { return .json }
        switch type {
        case .int64: return .integer
        case .double: return .real
        case .boolean: return .boolean
        case .dateTimeOffset: return .date
        default: return .string
        }
    }
}
