internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// The transport at the end of a push's chain: it sends a page as one batch where the server takes batches, else one
/// request after the other, and returns to each its own answer. A group is sent as a batch or not at all.
struct BatchSender: PageTransport {
    /// The filters around each request on the wire, and the client's transport.
    let wire: FilterChain
    let endpoint: Endpoint
    let support: BatchSupport

    func send(_ page: RequestPage) async -> RequestPage.Answers {
        let requests = page.requests
        let canHold = requests.map { $0.context.member != nil && BatchRequest.canHold($0, endpoint) }
        if let group = page.group {
            guard page.isWhole else { return requests.map { _ in .skipped } }
            guard canHold.allSatisfy({ $0 }), support.mayTake(group: true), users(of: requests).count == 1 else {
                let isMissing = canHold.allSatisfy { $0 }
                return requests.map { _ in .failure(Self.groupRefusal(isMissing: isMissing, wasSent: false)) }
            }
            return await together(requests, group.name)
        }
        var answers: [Result<SyncResponse, any Error>?] = Array(repeating: nil, count: requests.count)
        // A batch that got no usable answer may be the reason, as for a gateway that knows none: repeats go alone.
        let isRepeat = requests.contains { $0.context.attempt > 0 }
        let mayTake = requests.count > 1 && !isRepeat && support.mayTake(group: false)
        let batched = requests.indices.filter { mayTake && canHold[$0] }
        // Requests of different users cannot share a batch.
        for user in users(of: batched.map { requests[$0] }) {
            let places = batched.filter { BatchRequest.user(of: requests[$0]).hasSameBytes(as: user) }
            let came = await together(places.map { requests[$0] }, nil)
            for (place, answer) in zip(places, came) { answers[place] = answer }
        }
        let left = requests.indices.filter { answers[$0] == nil }
        for (place, answer) in zip(left, await alone(left.map { requests[$0] })) { answers[place] = answer }
        return answers.map { $0 ?? .failure(Self.noAnswer) }
    }

    /// Returns the different users, in the order of their first requests.
    private func users(of requests: [SyncRequest]) -> [String] {
        var users: [String] = []
        for user in requests.map(BatchRequest.user) where !users.contains(where: { $0.hasSameBytes(as: user) }) {
            users.append(user)
        }
        return users
    }

    private func together(_ requests: [SyncRequest], _ group: String?) async -> RequestPage.Answers {
        if requests.count == 1, group == nil { return await alone(requests) }
        let parts = requests.map { BatchRequest.Part(id: $0.context.member ?? "", group: group, request: $0) }
        let batch = BatchRequest(parts: parts, endpoint: endpoint)
        func answers(_ found: [String: Result<SyncResponse, any Error>]) -> RequestPage.Answers {
            parts.map { found[$0.id] ?? .failure(Self.noAnswer) }
        }
        let verdict: BatchSupport.Verdict
        do {
            let response = try await forward(batch.request())
            verdict = support.note(response)
            if verdict == .taken, !BatchSupport.saysNothingOfParts(response) {
                return answers(batch.answers(in: response))
            }
            if group != nil {
                let refusal = Self.groupRefusal(isMissing: true, wasSent: verdict == .mistaken)
                return answers(batch.answers(.failure(verdict == .taken ? Self.refused(response) : refusal)))
            }
        } catch {
            return answers(batch.answers(.failure(error)))
        }
        let answers = await alone(requests)
        // A server that took the batch for something else may have carried it out.
        return verdict == .mistaken ? answers.map(\.ofRepeat) : answers
    }

    /// Sends the requests one after the other; none follows one that got no answer.
    private func alone(_ requests: [SyncRequest]) async -> RequestPage.Answers {
        var answers: RequestPage.Answers = []
        for request in requests {
            if case .failure(let error as SluiceError)? = answers.last, error.code.isNetwork {
                let cause = RequestNotSent("the request before it was not answered")
                answers.append(.failure(SluiceError(error.code, error.message, cause: cause)))
            } else {
                do { answers.append(.success(try await forward(request))) } catch { answers.append(.failure(error)) }
            }
        }
        return answers
    }

    /// Sends a request on the wire, and notes from the answer whether the server accepts batches.
    private func forward(_ request: SyncRequest) async throws -> SyncResponse {
        let response = try await wire.send(request)
        if endpoint.isOrigin(of: request.head) { support.noteOffer(in: response) }
        return response
    }

    /// - Parameter wasSent: whether the group went out in a batch, whose outcome is unknown.
    private static func groupRefusal(isMissing: Bool, wasSent: Bool) -> SluiceError {
        SluiceError(
            .rejected,
            isMissing
                ? "the server takes no batches, so the changes of a group cannot reach it together"
                : "a filter made a request of it that no batch can hold, so its group cannot be sent",
            cause: wasSent ? nil : RequestNotSent("a group is never sent in parts"))
    }

    private static func refused(_ response: SyncResponse) -> SluiceError {
        SluiceError(
            .brokenProtocol,
            "the batch of a group was answered \(response.status) as a whole, which says nothing of its "
                + "changes")
    }

    private static var noAnswer: SluiceError { SluiceError(.brokenProtocol, "there is no answer to the request") }
}

extension Result<SyncResponse, any Error> {
    /// The answer to a repeat of a request that may have been carried out: it proves nothing about that one.
    fileprivate var ofRepeat: Self {
        guard showsNothingDone else { return self }
        switch self {
        case .success(let response):
            let message = "the server answered \(response.status), after a batch of which the outcome is unknown"
            let code = SluiceError.Code(status: response.status) ?? .serverFailure
            return .failure(SluiceError(code, message, status: response.status))
        case .failure(let error):
            let error = SluiceError(wrapping: error)
            return .failure(SluiceError(error.code, error.message))
        }
    }
}
