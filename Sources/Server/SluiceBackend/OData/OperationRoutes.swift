internal import HTTPTypes
internal import SluiceCore
internal import SluiceOData

/// Calls one of the server's own operations, and writes its result.
struct OperationRoutes: Sendable {
    let call: ServiceCall
    let operation: ODataOperation
    /// The text in the parentheses of the address; nil if there are none.
    let arguments: String?
    private var version: ServiceVersion { call.version }

    func reply(_ suffix: ODataTarget.Suffix?) async throws -> ODataReply {
        guard suffix == nil else { throw Refusal(.badRequest, "what an operation gives back is asked for whole") }
        let isRead = call.method == .get
        guard operation.isFunction == isRead, isRead || call.method == .post else {
            throw Refusal.method(allowed: operation.isFunction ? "GET" : "POST")
        }
        let principal = try await call.served.authenticator?.principal(for: call.head.headerFields)
        try check(principal)
        let format = try call.entityFormat()
        let values = try OperationArguments(call, operation, inAddress: arguments).values
        let question = ODataCall(principal: principal, arguments: values) { query in
            try await records(matching: query)
        }
        let result: JSON
        do {
            result = try await operation.body(question)
        } catch let refusal as HookRefusal {
            let status = (400...599).contains(refusal.status) ? refusal.status : 500
            throw Refusal(HTTPResponse.Status(code: status), refusal.message)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw Refusal(.internalServerError, "the operation failed")
        }
        return try answer(result, format)
    }

    private func check(_ principal: Principal?) throws {
        switch operation.access {
        case .anonymous: return
        case .authenticated:
            if principal != nil { return }
            var refusal = Refusal(.unauthorized, "the operation needs a user; send a token")
            refusal.headers[.wwwAuthenticate] = "Bearer"
            throw refusal
        case .disabled: throw Refusal(.notFound, "there is no operation \(operation.name)")
        }
    }

    /// Reads records within the caller's scope.
    private func records(matching query: Query) async throws -> [JSON] {
        guard let set = call.model.set(ofTable: query.table) else {
            throw SluiceError(.invalidTable, "the table is not configured", table: query.table)
        }
        let parameters = ListParameters(
            query, later: nil, deltaToken: nil,
            pageSize: PageSize(records: set.table.rules.pageSize, bytes: .max))
        do {
            guard case .records(let records, _, _) = try await RecordReads(call.tableRequest(set)).find(parameters)
            else { return [] }
            return records
        } catch let refusal as Refusal {
            var reason = "the records may not be read"
            if case .reason(let text) = refusal.content { reason = text }
            throw HookRefusal(refusal.status.code, reason)
        }
    }

    // MARK: Answers

    private func answer(_ result: JSON, _ format: AnswerFormat) throws -> ODataReply {
        switch operation.result {
        case .nothing: return ODataReply(.noContent)
        case .value(let type): return value(result, type, format)
        case .values(let type):
            let values = (result.elements ?? []).map { written($0, type, format) }
            guard version == .v2 else {
                let context = RowsV4(call, format).contextMember("Collection(\(type.edm.rawValue))")
                return ODataReply(
                    .ok, .json(JSON(members: context + [("value", JSON(values))])), type: format.type(version))
            }
            return ODataReply(.ok, .json(["d": ["results": JSON(values)]]), type: format.type(version))
        case .record(let table):
            guard let set = call.model.set(ofTable: table) else { throw Refusal.missing }
            if result.isNull { return ODataReply(.noContent) }
            guard let entity = Entity(set, stored: result, version.wire) else {
                throw Refusal(.internalServerError, "the operation gave back no record")
            }
            return ReadRoutes(call).document(entity, .ok, format)
        case .records(let table):
            guard let set = call.model.set(ofTable: table) else { throw Refusal.missing }
            let entities = (result.elements ?? []).compactMap { Entity(set, stored: $0, version.wire) }
            return ReadRoutes(call).document(
                EntityList(entities: entities), set, QueryOptions(set), format, title: operation.name,
                isReferences: false)
        }
    }

    private func value(_ result: JSON, _ type: TableSchema.ColumnType, _ format: AnswerFormat) -> ODataReply {
        let value = written(result, type, format)
        guard version == .v2 else {
            if result.isNull { return ODataReply(.noContent) }
            let context = RowsV4(call, format).contextMember(type.edm.rawValue)
            return ODataReply(.ok, .json(JSON(members: context + [("value", value)])), type: format.type(version))
        }
        return ODataReply(
            .ok, .json(["d": JSON(members: [(operation.name, value)])]), type: format.type(version))
    }

    private func written(_ value: JSON, _ type: TableSchema.ColumnType, _ format: AnswerFormat) -> JSON {
        ValueForm.written(
            value, EntitySet.Property(type), version, ieee754: format.isIEEE754Compatible)
    }
}

extension EntitySet.Property {
    /// Returns a result of a primitive type in the version's form.
    init(_ type: TableSchema.ColumnType, name: String = "") {
        self.init(name: name, column: PropertyName(name), type: type.edm, isJSON: type == .json)
    }
}
