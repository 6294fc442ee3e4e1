internal import HTTPTypes
internal import SluiceCore

/// A device's connection to the server: the world decides the fate of each request.
struct SimulatedTransport: Transport {
    let process: SimulatedProcess
    let parts: SimulationParts

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        try process.checkAlive()
        if parts.faults.strikes(.crashAtEffect, of: process.device) { try process.crash("before a request") }
        parts.count(\.requests)
        if let id = request.context.operationID, parts.configuration.filters.isEmpty {
            let body = (try? request.body.json.description) ?? ""
            let path = request.head.path ?? ""
            if parts.server.service == nil {
                parts.oracle.sent(id, "\(request.head.method) \(path) \(body)", by: process.device)
            } else if request.head.method != .get {
                // The method depends on the service, and reads of rows happen in between.
                parts.oracle.sent(id, "\(path) \(body)", by: process.device)
            }
        }
        if parts.setting.keepsMemos, SimulationText.holds(request.body.bytes, SimulatedMemo.column.text) {
            parts.oracle.violate(.noInvention, "device \(process.device) sends what stays here: \(Self.text(request))")
        }
        if parts.setting.usesTokens, Self.tellsToken(request) {
            parts.oracle.violate(.secrets, "device \(process.device) tells its token: \(Self.text(request))")
        }
        parts.trace.note(
            "request", request.head.path ?? "", process.device,
            line: "  device \(process.device) sends \(SimulatedTransport.text(request))")
        let response = try await exchange(request)
        try process.checkAlive()
        if parts.faults.strikes(.crashAtEffect, of: process.device) { try process.crash("before an answer is read") }
        // An adapter reads rows by the way: what becomes of that says nothing of the change.
        let isChange = parts.server.service == nil || request.head.method != .get
        if isChange, let id = request.context.operationID, SimulatedBusyness.proves(response, in: parts.setting) {
            parts.oracle.refused(id, by: process.device)
        }
        if request.head.method == .get, parts.setting.traits.contains(.hasLargeRows), isLarge(response) {
            throw SluiceError(.tooLarge, "the answer is larger than the device takes")
        }
        return response
    }

    private func exchange(_ request: SyncRequest) async throws -> SyncResponse {
        guard parts.setting.translates else { return try await parts.agenda.exchange(request, of: process) }
        let codec = SimulatedCodec(fields: parts.setting.fields)
        guard let plain = codec.received(request) else {
            parts.oracle.violate(
                .noInvention, "device \(process.device) sends a value half translated: \(Self.text(request))")
            return try await parts.agenda.exchange(request, of: process)
        }
        return codec.answered(try await parts.agenda.exchange(plain, of: process))
    }

    /// Whether an answer has more than a few rows.
    private func isLarge(_ response: SyncResponse) -> Bool {
        let body = try? response.body.json
        let rows = body?.elements ?? (body?["items"] ?? body?["value"] ?? body?["d"]?["results"])?.elements
        return rows.map { $0.count > SimulatedServer.fewRows } ?? false
    }

    /// Whether a token appears outside of its header field.
    private static func tellsToken(_ request: SyncRequest) -> Bool {
        SimulationText.holds(Array((request.head.path ?? "").utf8), SimulationTokens.mark)
            || SimulationText.holds(request.body.bytes, SimulationTokens.mark)
    }

    static func text(_ request: SyncRequest) -> String {
        let body = (try? request.body.json).map { " \(SimulationText.of($0))" } ?? ""
        let condition = request.head.headerFields[.ifMatch].map { " If-Match \($0)" } ?? ""
        let id = request.context.operationID.map { " as \($0)" } ?? ""
        return "\(request.head.method) \(request.head.path ?? "")\(condition)\(id)\(body)"
    }
}

/// A user's filter that fails at times.
struct SimulatedFilter: RequestFilter {
    let process: SimulatedProcess
    let parts: SimulationParts
    let takesPages = true

    func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        if parts.faults.strikes(.filterThrows, of: process.device) { throw SimulatedMishap() }
        if !request.body.isEmpty, parts.faults.strikes(.filterEchoes, of: process.device) { return Self.echo(request) }
        return try await next(request)
    }
}

extension SimulatedFilter {
    /// Returns the request's own body as its answer, as a cache or a mock might do; for a batch, the body of each part.
    private static func echo(_ request: SyncRequest) -> SyncResponse {
        guard let batch = ModelBatch.isBatch(request) ? ModelBatch(request) : nil else {
            return SyncResponse(HTTPResponse(status: .ok), body: request.body)
        }
        return ModelBatch.answer(
            batch.parts.map { ($0.id, SyncResponse(HTTPResponse(status: .ok), body: $0.request.body)) })
    }
}

/// The error of a user's filter or handler.
struct SimulatedMishap: Error {}
