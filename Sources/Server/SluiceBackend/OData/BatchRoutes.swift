internal import HTTPTypes
internal import SluiceCore
internal import SluiceOData

/// Answers `$batch`: runs each request like a single one, and the requests of a change set in one transaction.
struct BatchRoutes: Sendable {
    let call: ServiceCall
    let routes: ODataRoutes

    /// The answer to one request, or to a failed change set as a whole.
    struct Answer: Sendable {
        var items: [BatchItem]
        var replies: [ODataReply]
        /// Whether the one reply is about the whole change set.
        var isFailedGroup = false

        var failed: Bool { replies.contains { $0.status.code >= 400 } }
    }

    func reply() async throws -> ODataReply {
        let body = call.request.body
        let most = call.served.configuration.limits.bodyBytes
        guard body.bytes.count <= most else {
            throw Refusal(.contentTooLarge, "the batch is larger than \(most) bytes")
        }
        let type = call.head.headerFields[.contentType]
        let reader = BatchItemReader(call: call)
        let writer = BatchWriter(call: call)
        if let boundary = MultipartReader.boundary(type) {
            let answers = try await run(try reader.items(body.bytes, boundary: boundary))
            return continued(writer.multipart(answers))
        }
        guard call.version != .v2, type?.lowercased().hasPrefix("application/json") == true else {
            throw Refusal(
                .unsupportedMediaType,
                "a batch is multipart/mixed with a boundary" + (call.version == .v2 ? "" : ", or application/json"))
        }
        let document = try RequestBody.object(of: call.request, call.version.wire)
        return continued(writer.json(try await run(try reader.items(document))))
    }

    private func continued(_ reply: ODataReply) -> ODataReply {
        var reply = reply
        if call.version != .v2, call.preferences.continuesOnError { reply.applied("odata.continue-on-error") }
        return reply
    }

    // MARK: One after the other

    private func run(_ items: [BatchItem]) async throws -> [Answer] {
        try routes.allowance?.pay(parts: items.count)
        // v2 has no such preference: all requests are run.
        let goesOn = call.version == .v2 || call.preferences.continuesOnError
        var answers: [Answer] = []
        var references: [String: String] = [:]
        var failed: Set<String> = []
        var size = 0
        var rest = items[...]
        while let first = rest.first {
            let group = Array(rest.prefix { $0.group != nil && $0.group == first.group })
            let unit = group.isEmpty ? [first] : group
            rest = rest.dropFirst(unit.count)
            var answer: Answer
            if size > BatchRun.mostBytes {
                answer = Answer(items: unit, replies: [refused(Self.tooMuch)], isFailedGroup: !group.isEmpty)
            } else if let name = unit.lazy.flatMap(\.dependsOn).first(where: failed.contains) {
                let refusal = Refusal(.failedDependency, "not carried out: it depends on \(name), which failed")
                answer = Answer(items: unit, replies: [refused(refusal)], isFailedGroup: !group.isEmpty)
            } else if group.isEmpty {
                answer = Answer(items: unit, replies: [await reply(to: first, references)])
                if let id = first.id, let made = answer.replies[0].headers[.location]?.dropFirst(call.root.count) {
                    references[id] = PercentEncoding.decoded(made.replacing("+", with: "%2B"))
                }
            } else {
                answer = await changeSet(unit, &references)
            }
            for reply in answer.replies { size += reply.size }
            if answer.failed { failed.formUnion(unit.compactMap(\.id) + (first.group.map { [$0] } ?? [])) }
            answers.append(answer)
            if answer.failed, !goesOn { break }
        }
        return answers
    }

    private func reply(to item: BatchItem, _ references: [String: String]) async -> ODataReply {
        do {
            return await routes.reply(to: try inner(item, references))
        } catch {
            return refused(error)
        }
    }

    /// Returns the call of an item.
    private func inner(_ item: BatchItem, _ references: [String: String]) throws(Refusal) -> ServiceCall {
        let request = try item.request.get()
        var inner = try ServiceCall(
            call.served, call.model, call.version, request, RequestTarget(request.head))
        inner.references = references
        guard inner.segments.first != BatchDocument.name else { throw Refusal(.badRequest, "a batch holds no batch") }
        return inner
    }

    // MARK: Change sets

    private func changeSet(_ items: [BatchItem], _ references: inout [String: String]) async -> Answer {
        var known = references
        do {
            let writes = try await plan(items, &known)
            let count = writes.reduce(0) { $0 + $1.changes.count }
            let group = WriteGroup(parts: 0..<count, call.served.database)
            let results = await withTaskGroup(of: (Int, Result<ODataReply, any Error>).self) { tasks in
                var first = 0
                for (index, write) in writes.enumerated() {
                    let part = first
                    tasks.addTask {
                        do {
                            return (index, .success(try write.answer(try await write.replies(group, first: part))))
                        } catch {
                            return (index, .failure(error))
                        }
                    }
                    first += write.changes.count
                }
                var results: [(Int, Result<ODataReply, any Error>)] = []
                for await result in tasks { results.append(result) }
                return results.sorted { $0.0 < $1.0 }.map(\.1)
            }
            let replies = try Self.successes(results)
            references = known
            return Answer(items: items, replies: replies)
        } catch {
            return Answer(items: items, replies: [refused(error)], isFailedGroup: true)
        }
    }

    /// Plans the changes of a change set. Ids of new entities are assigned before, because other requests may refer to
    /// them.
    private func plan(_ items: [BatchItem], _ references: inout [String: String]) async throws -> [PlannedWrite] {
        var writes: [PlannedWrite] = []
        var created: Set<RecordID> = []
        for item in items {
            var inner = try inner(item, references)
            inner.created = created
            guard inner.method != .get else { throw Refusal(.badRequest, "a change set holds changes only") }
            let navigator = Navigator(call: inner, operations: routes.service.operations, created: created)
            let place = try await navigator.place(inner.segments)
            if case .operation = place.subject {
                throw Refusal(.notImplemented, "an action stands by itself: what it does is in no transaction")
            }
            let write = try await WriteRoutes(call: inner, service: routes.service).write(place, knowsID: true)
            if let id = write.newID {
                created.insert(id)
                if let name = item.id { references[name] = write.changes[write.main].set.keyed(id, call.version) }
            }
            writes.append(write)
        }
        return writes
    }

    /// Returns all replies, or the refusal that ended the change set.
    private static func successes(_ results: [Result<ODataReply, any Error>]) throws -> [ODataReply] {
        var failure: (any Error)?
        for case .failure(let error) in results {
            let isConsequence = (error as? Refusal)?.status == .failedDependency
            if failure == nil || !isConsequence { failure = error }
            if !isConsequence { break }
        }
        if let failure { throw failure }
        return try results.map { try $0.get() }
    }

    private func refused(_ error: any Error) -> ODataReply {
        ODataReply(
            call.served.refusal(of: error, call.head), call.version,
            HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/"), call.target)
    }

    private static var tooMuch: Refusal {
        var refusal = Refusal(
            .serviceUnavailable, "not carried out: the answers before are too large; send it again by itself")
        refusal.headers[.retryAfter] = "0"
        return refusal
    }
}

extension ODataReply {
    /// The number of bytes in the body.
    var size: Int { response(.v401).body.bytes.count }
}
