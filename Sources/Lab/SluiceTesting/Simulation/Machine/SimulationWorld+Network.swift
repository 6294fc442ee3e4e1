internal import HTTPTypes
internal import SluiceCore

extension SimulationWorld {
    /// Delivers a request to the server or an answer to its device, or loses it on the way.
    func deliver(_ parcel: SimulationAgenda.Parcel) {
        let device = devices[parcel.process.device]
        parts.clock.advance(milliseconds: 1 + parts.random.below(150))
        if let answer = parcel.answer {
            note("answer", parcel, "\(answer.status) reaches device \(device.index)")
            return parts.agenda.end(parcel, .success(answer))
        }
        if device.isOffline || strikes(.refuseConnection) {
            note("refused", parcel, "no connection of device \(device.index)")
            let cause = RequestNotSent("there is no network")
            return parts.agenda.end(parcel, .failure(SluiceError(.network, "no connection", cause: cause)))
        }
        if strikes(.dropRequest) { return lose(parcel, "the request") }
        if let response = busy(parcel) ?? refusal(parcel.request) {
            return answer(parcel, response, "instead of doing it")
        }
        guard let user = user(of: parcel) else {
            return answer(parcel, .model(401, ["error": "who are you?"]), "to no good token")
        }
        var response = parts.server.answer(parcel.request, of: device.index, user: user)
        var isOfCopy = false
        var partsOfCopy: [String] = []
        if strikes(.duplicate) {
            var other = parts.server.answer(parcel.request, of: device.index, user: user)
            if parts.random.below(2) == 0 { swap(&response, &other) }
            isOfCopy = other.status < 300 && response.status >= 400
            partsOfCopy = Self.partsRefused(by: response, doneBy: other, of: parcel.request)
        }
        // Sent as bytes, because devices parse bytes.
        if story.setting.traits.contains(.hasOddRows) { response.body = MessageBody(bytes: response.body.bytes) }
        if let quirk = parts.configuration.quirk { response = quirk(parcel.request, response) }
        response = spoiled(response, to: parcel.request)
        for id in partsOfCopy { parts.oracle.refusedAsCopy(id) }
        if isOfCopy, (try? response.body.json)?["id"] == nil, let id = parcel.request.context.operationID {
            parts.oracle.refusedAsCopy(id)
        }
        if strikes(.dropAnswer) { return lose(parcel, "the answer \(response.status)") }
        answer(parcel, response, "")
    }

    /// Returns the user that the server takes the sender for; nil if the token is not valid.
    private func user(of parcel: SimulationAgenda.Parcel) -> Int? {
        let (user, device) = (parcel.process.user, parcel.process.device)
        guard story.setting.usesTokens else { return user }
        if strikes(.tokenExpires) { parts.tokens.expire(SimulatedAccount(user: user, device: device)) }
        let token = Self.tokenField.flatMap { parcel.request.head.headerFields[$0] }
        return token.flatMap { parts.tokens.user(of: $0) }
    }

    private static let tokenField = HTTPField.Name("X-ZUMO-AUTH")

    func strikes(_ fault: SimulationFault) -> Bool { parts.faults.strikes(fault) }

    private func note(_ name: StaticString, _ parcel: SimulationAgenda.Parcel, _ line: @autoclosure () -> String) {
        parts.trace.note(
            name, parcel.request.head.path ?? "", parcel.number, line: "  \(line()), request \(parcel.number)")
    }

    private func lose(_ parcel: SimulationAgenda.Parcel, _ what: String) {
        note("lost", parcel, "\(what) of device \(parcel.process.device) is lost")
        if strikes(.silence) {
            parts.agenda.lose(parcel)
        } else {
            parts.agenda.end(parcel, .failure(SluiceError(.network, "the connection broke")))
        }
    }

    private func answer(_ parcel: SimulationAgenda.Parcel, _ answered: SyncResponse, _ remark: String) {
        var response = answered
        let token = Self.tokenField.flatMap { parcel.request.head.headerFields[$0] }
        if let token, story.setting.traits.contains(.repeatsTokens), response.status >= 400,
            ![409, 412].contains(response.status)
        {
            response.body = MessageBody(json: ["error": JSON("not with the token \(token)"), "message": JSON(token)])
        }
        note(
            "answered", parcel,
            "the server answers \(response.status) \(remark) to device \(parcel.process.device): "
                + SimulatedTransport.text(parcel.request)
                + ((try? response.body.json).map { " -> \(SimulationText.of($0))" } ?? ""))
        devices[parcel.process.device].note(response.status, to: parcel.request)
        guard parts.agenda.isAwaited(parcel) else { return }
        if parts.random.below(2) == 0 { return parts.agenda.end(parcel, .success(response)) }
        var parcel = parcel
        parcel.answer = response
        parts.agenda.put(parcel)
    }

    /// Returns an answer of a server that does nothing, or nil.
    private func refusal(_ request: SyncRequest) -> SyncResponse? {
        let isChange = request.head.method != .get
        if strikes(.tooManyRequests) { return Self.later(429, "2") }
        if strikes(.unavailable) {
            let now = Timestamp(ticks: parts.clock.now.ticks + 5 * Timestamp.ticksPerSecond)
            return Self.later(503, [nil, "1", ModelDate.text(now), "soon"][parts.random.below(4)])
        }
        if strikes(.forbidden) { return .model(403, ["error": "not yours"]) }
        if strikes(.failBefore) { return .model(500, ["error": "an accident"]) }
        if strikes(.unauthorized) { return .model(401, ["error": "who are you?"]) }
        if isChange, strikes(.refusal) { return .model(400, ["error": "not today"]) }
        if strikes(.webPage) {
            var page = SyncResponse(
                HTTPResponse(status: .ok), body: MessageBody(bytes: Array("<html>Sign in</html>".utf8)))
            page.head.headerFields[.contentType] = "text/html"
            return page
        }
        return nil
    }

    static func later(_ status: Int, _ retryAfter: String?) -> SyncResponse {
        var response = SyncResponse.model(status, nil)
        response.head.headerFields[.retryAfter] = retryAfter
        return response
    }

    /// Returns the answer to a performed request as it arrives, with the faults that change answers.
    private func spoiled(_ response: SyncResponse, to request: SyncRequest) -> SyncResponse {
        let isDelete = request.head.method == .delete
        // A 2xx answer with an error in its body reports no performed change, so these faults leave it.
        let isDone = 200..<300 ~= response.status && (try? response.body.json)?["error"] == nil
        if request.head.method != .get {
            if strikes(.failAfter) { return .model(500, ["error": "an accident"]) }
            // Only for a performed change: a 204 to a refused delete would be false.
            if isDone, strikes(.noContent) {
                var empty = SyncResponse.model(204, nil)
                empty.head.headerFields[.eTag] = response.head.headerFields[.eTag]
                return empty
            }
            if isDelete, isDone, strikes(.notFoundAfterDelete) { return .model(404, ["error": "gone"]) }
            if response.status == 409 || response.status == 412, strikes(.bareConflict) {
                return .model(response.status, ["error": "another was faster"])
            }
        }
        if request.head.method == .get, response.status == 200, strikes(.errorBesideRows) {
            return response.withErrorBesideRows()
        }
        guard strikes(.cutBody) else { return response }
        var cut = response
        let bytes = response.body.bytes
        cut.body = MessageBody(bytes: Array(bytes.prefix(bytes.isEmpty ? 0 : parts.random.below(bytes.count))))
        return cut
    }

    /// Returns the request ids of a batch's parts that one copy of the batch refused and the other did.
    private static func partsRefused(
        by response: SyncResponse, doneBy other: SyncResponse, of request: SyncRequest
    ) -> [String] {
        func statuses(_ response: SyncResponse) -> [Int64] {
            ((try? response.body.json)?["responses"]?.elements ?? []).map { $0["status"]?.int ?? 0 }
        }
        let requests = (try? request.body.json)?["requests"]?.elements ?? []
        let (refused, done) = (statuses(response), statuses(other))
        guard refused.count == done.count, refused.count == requests.count else { return [] }
        return requests.indices.filter { refused[$0] >= 400 && done[$0] < 300 }.compactMap {
            requests[$0]["headers"]?["repeatability-request-id"]?.string
        }
    }
}
