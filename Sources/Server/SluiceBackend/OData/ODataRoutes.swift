internal import HTTPTypes
internal import SluiceCore

extension HTTPRequest {
    /// Whether the request is to an OData service.
    var isOData: Bool {
        let segments = (path ?? "").split(separator: "/", maxSplits: 2)
        guard segments.first == "odata", segments.count > 1 else { return false }
        return ["v2", "v4"].contains(segments[1].prefix { $0 != "?" })
    }
}

/// Routes requests to an OData service, and turns every failure into an answer in its version.
struct ODataRoutes: Sendable {
    let served: ServedTables
    let service: ODataService
    /// The allowance by which a batch pays for its parts; nil without a limit.
    var allowance: Allowance?

    /// Answers a single request.
    func respond(to request: SyncRequest) async -> SyncResponse {
        let target = RequestTarget(request.head)
        let isV2 = target.segments.dropFirst().first == "v2"
        do {
            try service.csrf.check(request.head)
            let version = try ServiceVersion.of(request.head.headerFields, isV2: isV2)
            let call = try ServiceCall(served, service.model, version, request, target)
            var reply = await self.reply(to: call)
            service.csrf.answer(request.head, &reply.headers)
            return reply.response(version, isV1: call.knowsV1Only)
        } catch {
            return Self.response(to: served.refusal(of: error, request.head), request.head)
        }
    }

    /// Returns the answer to a request that was refused before it was parsed.
    static func response(to refusal: Refusal, _ head: HTTPRequest) -> SyncResponse {
        let target = RequestTarget(head)
        let version: ServiceVersion = target.segments.dropFirst().first == "v2" ? .v2 : .v401
        return ODataReply(refusal, version, head, target).response(version)
    }

    /// Answers a call, also one in a batch.
    func reply(to call: ServiceCall) async -> ODataReply {
        do {
            return try await answer(call)
        } catch {
            return ODataReply(served.refusal(of: error, call.head), call.version, call.head, call.target)
        }
    }

    private func answer(_ call: ServiceCall) async throws -> ODataReply {
        let segments = call.segments
        let descriptions = DescriptionRoutes(call: call, operations: service.operations)
        switch segments.first {
        case nil:
            guard call.method == .get else { throw Refusal.method(allowed: "GET") }
            try await descriptions.check()
            return try descriptions.document()
        case "$metadata" where segments.count == 1:
            guard call.method == .get else { throw Refusal.method(allowed: "GET") }
            try await descriptions.check()
            return try descriptions.metadata()
        case "$batch" where segments.count == 1:
            guard call.method == .post else { throw Refusal.method(allowed: "POST") }
            return try await BatchRoutes(call: call, routes: self).reply()
        default: break
        }
        if segments.last == "$query", call.version != .v2 { return try await query(call) }
        let place = try await Navigator(call: call, operations: service.operations).place(segments)
        if case .operation(let operation, let arguments) = place.subject {
            return try await OperationRoutes(call: call, operation: operation, arguments: arguments).reply(place.suffix)
        }
        if call.method == .get { return try await ReadRoutes(call).reply(place) }
        return try await WriteRoutes(call: call, service: service).reply(place)
    }

    /// Answers a read with its options in the body, because they are too long for an address (OData 4.01 Protocol,
    /// section 11.2.8).
    private func query(_ call: ServiceCall) async throws -> ODataReply {
        guard call.method == .post else { throw Refusal.method(allowed: "POST") }
        guard call.request.body.bytes.count <= 65_536 else {
            throw Refusal(.contentTooLarge, "the query is larger than 65536 bytes")
        }
        var head = call.head
        head.method = .get
        let path = call.target.path.dropLast("/$query".count)
        let options = String(decoding: call.request.body.bytes, as: UTF8.self)
        head.path = path + "?" + PercentEncoding.mended(options)
        head.headerFields[.contentType] = nil
        let inner = try ServiceCall(
            call.served, call.model, call.version, SyncRequest(head), RequestTarget(head))
        let place = try await Navigator(call: inner, operations: service.operations).place(inner.segments)
        return try await ReadRoutes(inner).reply(place)
    }
}

/// Answers requests for the service document and `$metadata`.
struct DescriptionRoutes: Sendable {
    let call: ServiceCall
    let operations: [ODataOperation]

    /// Checks that the user may use the service, because the names of tables and properties are not public.
    ///
    /// - Throws: ``Refusal`` (401) without a user, if every table and operation needs one.
    func check() async throws {
        let principal = try await call.served.authenticator?.principal(for: call.head.headerFields)
        let levels = call.model.sets.flatMap { set in BackendOperation.allCases.map { set.table.rules.access[$0] } }
        guard principal == nil, !(levels + operations.map(\.access)).contains(.anonymous) else { return }
        var refusal = Refusal(.unauthorized, "the service needs a user; send a token")
        refusal.headers[.wwwAuthenticate] = "Bearer"
        throw refusal
    }

    func metadata() throws -> ODataReply {
        if call.version == .v2 {
            return ODataReply(
                .ok, .text(call.model.edmx(operations: operations)), type: "application/xml;charset=utf-8")
        }
        // Clients that accept JSON everywhere still expect XML here; only an explicit request for JSON gets it.
        let format = try call.format(.xml, .json)
        if format.media == .json {
            return ODataReply(.ok, .json(call.model.csdlJSON(operations: operations)), type: "application/json")
        }
        return ODataReply(
            .ok, .text(call.model.csdl(version: call.version, operations: operations)), type: "application/xml")
    }

    func document() throws -> ODataReply {
        guard call.version == .v2 else {
            let format = try call.format(.json)
            var members = RowsV4(call, format).contextMember("")
            if let context = members.first?.1.string {
                members = [("@odata.context", JSON(String(context.dropLast())))]
            }
            var entries = call.model.sets.map { set -> JSON in
                ["name": JSON(set.name), "kind": "EntitySet", "url": JSON(PercentEncoding.segment(set.name))]
            }
            for operation in operations where operation.isFunction && operation.parameters.isEmpty {
                entries.append(
                    ["name": JSON(operation.name), "kind": "FunctionImport", "url": JSON("\(operation.name)()")])
            }
            members.append(("value", JSON(entries)))
            return ODataReply(.ok, .json(JSON(members: members)), type: format.type(call.version))
        }
        let format = try call.format(.json, .xml, .atom)
        if format.media == .json {
            return ODataReply(
                .ok, .json(["d": ["EntitySets": JSON(call.model.sets.map { JSON($0.name) })]]),
                type: "application/json")
        }
        var xml = XMLWriter()
        xml.element(
            "service",
            [
                "xml:base": call.root, "xmlns": "http://www.w3.org/2007/app",
                "xmlns:atom": "http://www.w3.org/2005/Atom",
            ]
        ) { xml in
            xml.element("workspace") { xml in
                xml.element("atom:title", text: "Default")
                for set in call.model.sets {
                    xml.element("collection", ["href": PercentEncoding.segment(set.name)]) {
                        $0.element("atom:title", text: set.name)
                    }
                }
            }
        }
        return ODataReply(.ok, .text(xml.text), type: "application/atomsvc+xml;charset=utf-8")
    }
}
