internal import HTTPTypes
internal import SluiceCore
internal import SluiceOData

/// Answers a list with `$apply`: what is made of the entities that the request may see. (OData Extension for Data
/// Aggregation 4.0.)
///
/// The entities are read by the same rules and hooks as a list of them, so that no sum counts what its reader may not read.
struct AppliedReads: Sendable {
    private let call: ServiceCall

    /// The most entities that are brought together.
    private static let most = 50_000

    init(_ call: ServiceCall) { self.call = call }

    /// - Throws: ``Refusal``: 400 with the reason and the place, 501 for a transformation that is not served.
    func reply(_ set: EntitySet, _ step: Place.Step?, _ format: AnswerFormat) async throws -> ODataReply {
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
            let begun = try QueryEvaluator(query, schema: schema).apply(to: records)
            let rows = try read.answer(begun)
            var members = RowsV4(call, format).contextMember(set.name)
            if options.count == true {
                var all = options
                (all.skip, all.top) = (nil, nil)
                members.append(("@odata.count", JSON(try ODataRead(all, of: schema).answer(begun).count)))
            }
            members.append(("value", JSON(rows)))
            return ODataReply(.ok, .json(JSON(members: members)), type: format.type(call.version))
        } catch let error as QuerySyntaxError {
            throw Refusal(error.isUnsupported ? .notImplemented : .badRequest, "$apply: \(error)")
        } catch let error as SluiceError where [.invalidQuery, .unsupported].contains(error.code) {
            throw Refusal(error.code == .unsupported ? .notImplemented : .badRequest, error.message)
        }
    }

    /// All entities that the request may see, as they are shown.
    private func records(of set: EntitySet, _ step: Place.Step?) async throws -> [JSON] {
        let query = Query(set.table.name, filter: EntityReads.condition(step, set))
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
    /// The type as a store has it.
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
