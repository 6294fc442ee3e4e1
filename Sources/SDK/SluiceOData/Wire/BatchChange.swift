internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// Answers `POST tables/$batch`: sends its changes to the service as one batch, each group as one change set.
///
/// In a failed change set each change has an answer of its own. A change whose row shows the reason gets the refusal
/// and the row, the others get 424. If no row shows a reason, all get the service's.
struct BatchChange {
    /// One request of the batch.
    private struct Part {
        var id: String
        var group: String?
        var path: TablePath
        var change: RowChange?
        var sent: RowChange.Sent?
        /// Nil while its outcome is unknown.
        var answer: SyncResponse?
        /// Whether it is sent by itself, before the batch.
        var goesAlone = false
    }

    /// The largest number of times that a change set is sent in another form.
    private static let mostRounds = 6

    private let transport: ODataTransport
    private let request: SyncRequest

    init(_ transport: ODataTransport, _ request: SyncRequest) {
        self.transport = transport
        self.request = request
    }

    private var exchange: ServiceExchange { transport.exchange }

    /// Returns the answers in the form of the tables wire, or the service's refusal of the whole.
    func answer() async throws -> SyncResponse {
        let asked: [BatchDocument.Part]
        do throws(BatchDocument.Fault) {
            asked = try BatchDocument.parts(of: try? request.body.json)
        } catch {
            return ODataTransport.refusal(400, error.reason)
        }
        var parts: [Part] = []
        for part in asked { parts.append(try await self.part(part)) }
        // All parts are planned by now: the failure of a plan would lose the answers to what was sent.
        for index in parts.indices where parts[index].goesAlone {
            parts[index].answer = await parts[index].change?.aloneInBatch(parts[index].path)
        }
        // The changes of a group are adjacent in the request.
        var units: [Range<Int>] = []
        for index in parts.indices {
            if let last = units.last, let group = parts[index].group, parts[last.lowerBound].group == group {
                units[units.count - 1] = last.lowerBound..<index + 1
            } else {
                units.append(index..<index + 1)
            }
        }
        for unit in units { skipIncomplete(&parts, unit) }
        var open = units.filter { unit in parts[unit].allSatisfy { $0.answer == nil } }
        var rounds = 0
        while !open.isEmpty, rounds < Self.mostRounds {
            if let note = request.context.noteSent {
                for index in open.joined() {
                    let part = parts[index]
                    if let sent = part.sent { note(part.id, SyncRequest.Sent(sent.request, to: exchange.endpoint)) }
                }
            }
            let batch = batch(parts, open)
            let response: SyncResponse
            do {
                response = try await send(batch)
            } catch  where rounds > 0 || parts.contains(where: \.goesAlone) {
                // The answers to what was sent before, in another batch or by itself, must not be lost with this one.
                if let error = error as? SluiceError, error.cause is RequestNotSent {
                    for index in open.joined() { parts[index].answer = ODataTransport.refusal(503, error.message) }
                }
                break
            }
            guard (200..<300).contains(response.status) else {
                // A refusal of the whole batch says nothing about any change, and answers given without sending can be
                // determined again. Only changes sent by themselves must be reported; the others come with the next
                // push.
                if rounds == 0, !parts.contains(where: \.goesAlone) { return response }
                for index in open.joined() { parts[index].answer = rounds == 0 ? Self.skipped : response }
                break
            }
            let answers = Result { try batch.answers(in: response) }
            // As after a lost answer.
            if case .failure = answers, rounds > 0 || parts.contains(where: \.goesAlone) { break }
            var next: [Range<Int>] = []
            for (unit, answer) in zip(open, try answers.get()) {
                if await take(answer, &parts, unit) { next.append(unit) }
            }
            open = next
            rounds += 1
        }
        return document(parts)
    }

    private func part(_ asked: BatchDocument.Part) async throws -> Part {
        let id = asked.id
        var head = request.head
        head.method = HTTPRequest.Method(asked.method ?? "") ?? .get
        head.path = "\(exchange.endpoint.path)/\(asked.url ?? "")"
        for field in BatchDocument.fields(asked.headers) { head.headerFields[field.name] = field.value }
        var inner = SyncRequest(head, body: asked.body.map { MessageBody(json: $0) } ?? .empty)
        inner.context = SyncRequest.Context(
            source: request.context.source, attempt: request.context.attempt, limits: request.context.limits)
        inner.context.mayBeApplied = request.context.partsInDoubt.contains(id)
        inner.context.isRemade = request.context.partsRemade.contains(id)
        inner.context.mayBeUnderWay = request.context.partsUnderWay.contains(id)
        let context = request.context
        inner.context.noteSent = { context.noteSent?(id, $1) }
        inner.context.noteCreated = { context.noteCreated?(id, $1) }
        let path = TablePath(inner, endpoint: exchange.endpoint)
        var part = Part(id: id, group: asked.group, path: path)
        let name: String
        switch path {
        case .table(let table), .record(let table, _): name = table
        default:
            part.answer = ODataTransport.refusal(404, "a batch holds changes of tables")
            return part
        }
        do {
            let change = RowChange(transport, try await transport.catalog.set(name, for: inner), inner)
            part.change = change
            if case .table = path, part.group == nil, change.isSentOnce {
                part.goesAlone = true
                return part
            }
            switch try await change.plan(path, inBatch: true) {
            case .answered(let response): part.answer = response
            case .change(let sent): part.sent = sent
            }
        } catch let other as OtherRow {
            part.answer = other.response
        } catch let error as SluiceError where error.code == .notFound && error.status == 404 {
            part.answer = ODataTransport.refusal(404, error.message)
        } catch let error as SluiceError where error.code == .invalidRecord {
            part.answer = ODataTransport.refusal(400, error.message)
        }
        return part
    }

    /// Skips a change set if one of its parts cannot be sent.
    private func skipIncomplete(_ parts: inout [Part], _ unit: Range<Int>) {
        guard parts[unit].contains(where: { $0.answer != nil }) else { return }
        for index in unit where parts[index].answer == nil { parts[index].answer = Self.skipped }
    }

    private static var skipped: SyncResponse {
        ODataTransport.refusal(424, "not carried out, because another change of its group was refused")
    }

    private func batch(_ parts: [Part], _ units: [Range<Int>]) -> ServiceBatch {
        let form: ServiceBatch.Form =
            switch transport.settings.batches {
            case .json where exchange.version == .v4: .json
            case .automatic where exchange.version == .v4 && !transport.memory.takesNoJSONBatches: .json
            default: .multipart
            }
        return ServiceBatch(
            units: units.map { unit in
                ServiceBatch.Unit(
                    requests: parts[unit].compactMap { $0.sent?.request },
                    isSet: exchange.version == .v2 || parts[unit.lowerBound].group != nil)
            }, form: form, root: exchange.endpoint.path)
    }

    private func send(_ batch: ServiceBatch) async throws -> SyncResponse {
        var response = try await post(batch)
        if batch.form == .json, transport.settings.batches == .automatic,
            [400, 406, 415, 501].contains(response.status)
        {
            // A batch that is refused as a whole has changed nothing.
            response = try await post(ServiceBatch(units: batch.units, form: .multipart, root: batch.root))
            if (200..<300).contains(response.status) { transport.memory.noteNoJSONBatches() }
        }
        return response
    }

    private func post(_ batch: ServiceBatch) async throws -> SyncResponse {
        let (body, type) = batch.body()
        // Otherwise one failure would hide the answers to the others.
        let goesOn = exchange.version == .v4 ? [("Prefer", "odata.continue-on-error")] : []
        var request = exchange.request(.post, exchange.path(["$batch"]), for: request, fields: goesOn)
        request.head.headerFields[.contentType] = type
        request.head.headerFields[.accept] = batch.form == .json ? "application/json" : "multipart/mixed"
        request.body = body
        return try await exchange.send(request)
    }

    /// Notes the service's answer to a unit.
    ///
    /// - Returns: whether the unit is to be sent again in another form.
    private func take(_ answer: ServiceBatch.Answer, _ parts: inout [Part], _ unit: Range<Int>) async -> Bool {
        switch answer {
        case .none:
            for index in unit { parts[index].answer = Self.skipped }
        case .each(let responses):
            for (index, response) in zip(unit, responses) {
                let response = exchange.told(response)
                guard let change = parts[index].change, let sent = parts[index].sent else { continue }
                if let other = change.again(sent, response, inBatch: true) {
                    parts[index].sent = other
                    return true
                }
                parts[index].answer = await change.settledInBatch(sent, response)
            }
        case .failed(let response, let place, let skipped):
            return await fail(exchange.told(response), at: place, skipped, &parts, unit)
        }
        return false
    }

    private func fail(
        _ response: SyncResponse, at place: Int?, _ skipped: Set<Int>, _ parts: inout [Part], _ unit: Range<Int>
    ) async -> Bool {
        var hasOther = false
        for index in unit where place == nil || unit.lowerBound + (place ?? 0) == index {
            guard let change = parts[index].change, let sent = parts[index].sent,
                let other = change.again(sent, response, inBatch: true)
            else { continue }
            parts[index].sent = other
            hasOther = true
        }
        if hasOther { return true }
        if [403, 424].contains(response.status) || AnswerStatus.isPassing(response.status) || response.status > 500 {
            for index in unit { parts[index].answer = response }
            return false
        }
        var unclear = Set(unit)
        for index in unit {
            guard let change = parts[index].change, let sent = parts[index].sent else { continue }
            switch await change.blame(sent) {
            case .blamed(let refusal): parts[index].answer = refusal
            case .clear: unclear.remove(index)
            case .unknown: continue
            }
        }
        // If the rows show nothing, the service's answer counts. Some services always name the first change of a set.
        if let place, parts[unit].allSatisfy({ $0.answer == nil }) {
            let index = unit.lowerBound + place
            if let change = parts[index].change, let sent = parts[index].sent {
                parts[index].answer = (try? await change.settled(sent, response)) ?? response
            }
        }
        let isExplained = parts[unit].contains { $0.answer != nil }
        for index in unit where parts[index].answer == nil {
            // If the rows clear every change, only the service knows the reason.
            let isOther =
                !unclear.contains(index) && !unclear.isEmpty || skipped.contains(index - unit.lowerBound)
            parts[index].answer = isExplained || isOther ? Self.skipped : response
        }
        return false
    }

    private func document(_ parts: [Part]) -> SyncResponse {
        let responses = parts.compactMap { part -> JSON? in
            guard let answer = part.answer else { return nil }
            return BatchDocument.answer(
                part.id, group: part.group, answer.status, fields: Array(answer.head.headerFields),
                body: answer.body.isEmpty ? nil : (try? answer.body.json))
        }
        return ODataTransport.response(200, ["responses": JSON(responses)])
    }
}
