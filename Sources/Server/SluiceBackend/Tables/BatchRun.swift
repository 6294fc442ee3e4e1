internal import HTTPTypes
internal import SluiceCore

/// Runs the requests of a batch in their order, each like a single request.
struct BatchRun: Sendable {
    /// The most bytes of all answers together; further requests are not run. Without it, small changes of large records
    /// could fill the memory with their answers.
    static let mostBytes = 32 << 20

    private let served: ServedTables
    private let parts: [BatchDocument.Part]
    private let reader: BatchPartReader
    private let wire: ServerWire

    /// Reads the batch.
    ///
    /// - Throws: ``Refusal``: 400 for an invalid batch, 413 for one that is too large, 415 if the wire requires a JSON
    ///   content type, 429 if the parts exceed the client's rate limit.
    init(
        _ served: ServedTables, _ request: SyncRequest, _ target: RequestTarget, _ wire: ServerWire,
        _ allowance: Allowance?
    ) throws {
        let most = served.configuration.limits.bodyBytes
        guard request.body.bytes.count <= most else {
            throw Refusal(.contentTooLarge, "the batch is larger than \(most) bytes")
        }
        self.served = served
        self.wire = wire
        reader = BatchPartReader(request.head, target)
        parts = try BatchPartReader.parts(of: RequestBody.object(of: request, wire))
        try allowance?.pay(parts: parts.count)
    }

    func reply() async throws -> Reply {
        var answers: [JSON] = []
        var size = 0
        // The failed requests and groups.
        var failed: Set<String> = []
        var rest = parts[...]
        while let first = rest.first {
            let parts = Array(rest.prefix { $0.id == first.id || ($0.group != nil && $0.group == first.group) })
            rest = rest.dropFirst(parts.count)
            let responses: [SyncResponse]
            if size > Self.mostBytes {
                responses = parts.map { _ in wire.response(to: Self.tooMuch, asked: []) }
            } else if let name = parts.lazy.flatMap(\.dependsOn).first(where: failed.contains) {
                let refusal = Refusal(.failedDependency, "not carried out: it depends on \(name), which failed")
                responses = parts.map { _ in wire.response(to: refusal, asked: []) }
            } else if first.group == nil {
                responses = [await respond(to: first)]
            } else {
                responses = await respond(toGroup: parts)
            }
            for (part, response) in zip(parts, responses) {
                size += response.body.bytes.count
                if response.status >= 400 { failed.formUnion([part.id] + (part.group.map { [$0] } ?? [])) }
                answers.append(Self.answer(part, response))
            }
        }
        return Reply(.ok, body: ["responses": JSON(answers)])
    }

    private func respond(
        to part: BatchDocument.Part, _ group: (writes: WriteGroup, part: Int)? = nil
    ) async -> SyncResponse {
        let request: SyncRequest
        do {
            request = try reader.request(part)
        } catch {
            // A mistake in one of them refuses only that one.
            return wire.response(to: error, asked: [])
        }
        return await TableRoutes(served: served, group: group).respond(to: request)
    }

    private func respond(toGroup parts: [BatchDocument.Part]) async -> [SyncResponse] {
        let writes = WriteGroup(parts: parts.indices, served.database)
        return await withTaskGroup(of: (Int, SyncResponse).self) { tasks in
            for (index, part) in parts.enumerated() {
                tasks.addTask {
                    let response = await respond(to: part, (writes, index))
                    await writes.end(index, refusedAs: response.status >= 400 ? part.id : nil)
                    return (index, response)
                }
            }
            var responses: [(Int, SyncResponse)] = []
            for await response in tasks { responses.append(response) }
            return responses.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private static func answer(_ part: BatchDocument.Part, _ response: SyncResponse) -> JSON {
        // Headers of every answer occur once, in the batch's own answer.
        let fields: [HTTPField] = response.head.headerFields.filter {
            ![.cacheControl, Reply.serverVersion, Reply.batchOffer].contains($0.name)
        }
        let bytes = response.body.bytes
        let body = bytes.isEmpty ? nil : (try? response.body.json) ?? JSON(String(decoding: bytes, as: UTF8.self))
        return BatchDocument.answer(part.id, group: part.group, response.status, fields: fields, body: body)
    }

    private static var tooMuch: Refusal {
        var refusal = Refusal(
            .serviceUnavailable, "not carried out: the answers before are too large; send it again by itself")
        refusal.headers[.retryAfter] = "0"
        return refusal
    }
}
