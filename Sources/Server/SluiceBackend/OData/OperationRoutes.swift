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
    private func records(matching query: TableQuery) async throws -> [JSON] {
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

/// The values of an operation's parameters in a call. A function has them in the parentheses of the address or in the
/// query, an action in the body; v2 always has them in the query.
struct OperationArguments {
    private(set) var values: [String: JSON] = [:]

    /// - Throws: ``Refusal`` (400) for a value of another type and for an unknown parameter.
    init(_ call: ServiceCall, _ operation: ODataOperation, inAddress inner: String?) throws {
        let version = call.version
        var literals: [(name: String, text: String)] = []
        if version == .v2 || inner == nil {
            for (name, value) in call.target.parameters where operation.parameters.contains(where: { $0.name == name })
            {
                literals.append((name, value))
            }
        }
        for argument in ODataList.split(inner ?? "", by: ",") where !argument.isEmpty {
            let sides = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard sides.count == 2 else { throw Refusal(.badRequest, "\(argument) is no name=value") }
            var text = sides[1]
            if text.hasPrefix("@") {
                // OData 4.01 URL Conventions, section 5.3: an alias.
                guard let value = call.target.values(text).first else {
                    throw Refusal(.badRequest, "the query gives no value for \(text)")
                }
                text = value
            }
            literals.append((sides[0], text))
        }
        for (name, text) in literals {
            let parameter = try Self.parameter(name, operation)
            values[name] = try Self.value(text, parameter, version)
        }
        guard !operation.isFunction, version != .v2, !call.request.body.isEmpty else { return }
        for (name, value) in try EntityBody.document(call).members ?? [] where !name.text.contains("@") {
            let parameter = try Self.parameter(name.text, operation)
            values[name.text] = try ValueForm.read(value, .init(parameter.type, name: parameter.name), version)
        }
    }

    private static func parameter(_ name: String, _ operation: ODataOperation) throws -> ODataOperation.Parameter {
        guard let parameter = operation.parameters.first(where: { $0.name == name }) else {
            let hint = NearestKey.suggestion(for: name, among: operation.parameters.map(\.name)) ?? ""
            throw Refusal(.badRequest, "\(operation.name) has no parameter \(name)\(hint)")
        }
        return parameter
    }

    /// Returns the value of a literal in an address.
    private static func value(
        _ text: String, _ parameter: ODataOperation.Parameter, _ version: ServiceVersion
    ) throws -> JSON {
        if text == "null" { return .null }
        let property = EntitySet.Property(parameter.type, name: parameter.name)
        let literal: TableQuery.Literal
        do {
            guard case .literal(let read) = try QueryExpression(odata: text) else {
                throw Refusal(.badRequest, "the parameter \(parameter.name) is a constant")
            }
            literal = read
        } catch let error as TableQuery.SyntaxError {
            throw Refusal(.badRequest, "\(parameter.name): \(error)")
        }
        switch literal {
        case .null: return .null
        case .bool(let value): return try ValueForm.read(JSON(value), property, version)
        case .number(let number): return try ValueForm.read(JSON(number), property, version)
        case .string(let text): return try ValueForm.read(JSON(text), property, version)
        case .date(let time), .day(let time): return try ValueForm.read(JSON(time.description), property, .v401)
        case .guid(let text): return try ValueForm.read(JSON(text), property, version)
        default: throw Refusal(.badRequest, "the parameter \(parameter.name) is of another type")
        }
    }
}
