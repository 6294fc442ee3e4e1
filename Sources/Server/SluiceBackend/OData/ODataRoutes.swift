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
    func respond(to request: Request) async -> Response {
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
    static func response(to refusal: Refusal, _ head: HTTPRequest) -> Response {
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
            call.served, call.model, call.version, Request(head), RequestTarget(head))
        let place = try await Navigator(call: inner, operations: service.operations).place(inner.segments)
        return try await ReadRoutes(inner).reply(place)
    }
}
