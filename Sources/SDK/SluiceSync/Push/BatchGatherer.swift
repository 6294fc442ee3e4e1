internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire
internal import Synchronization

/// The innermost transport of a push's chain. It holds the sealed requests of concurrent operations until all have
/// arrived, sends them as one batch, and returns to each its own answer.
///
/// Each request has passed the filters on its own by then, and so does its answer. A retry after a transient failure
/// waits for no other request. A group is sent when all its members have arrived; if one is missing, none is sent.
final class BatchGatherer: Transport {
    private enum Turn: Sendable {
        case answer(Result<Response, any Error>)
        /// Send these, including the receiver's own.
        case send([BatchRequest.Part])
    }

    private struct Waiting: Sendable {
        let part: BatchRequest.Part
        let turn: CheckedContinuation<Turn, Never>
    }

    private struct Group {
        /// The members that may still arrive.
        var expected: Set<String> = []
        var waiting: [Waiting] = []
        /// The members in sending order.
        var order: [String] = []
        /// Whether a member left without arriving.
        var isBroken = false
    }

    private struct State {
        var expected: Set<String> = []
        var waiting: [Waiting] = []
        var groups: [String: Group] = [:]
        var groupOf: [String: String] = [:]
        var turns: [String: CheckedContinuation<Turn, Never>] = [:]
        /// The operations in the order of their start, and their number.
        var order: [String: Int] = [:]
        var begun = 0
        /// The number of arrivals and departures: the watch detects a stall by an unchanged number.
        var steps = 0
    }

    private let inner: any Transport
    private let endpoint: Endpoint
    private let wanted: Int?
    private let support: BatchSupport
    private let environment: SyncEnvironment
    private let state = Mutex(State())

    /// The current maximum of requests in one batch; groups are sent whole, whatever their size.
    private var size: Int { support.size(wanted) }

    /// - Parameter wanted: ``SyncOptions/batchSize``.
    init(
        _ inner: any Transport, endpoint: Endpoint, wanted: Int?, support: BatchSupport, environment: SyncEnvironment
    ) {
        self.inner = inner
        self.endpoint = endpoint
        self.wanted = wanted
        self.support = support
        self.environment = environment
    }

    /// Notes the operations that begin together.
    func note(_ effects: [PushSession.Effect]) {
        var begun: Set<String> = []
        let size = size
        state.withLock { state in
            for case .load(let operation) in effects {
                state.order[operation.id] = state.begun
                state.begun += 1
                guard let group = operation.group else {
                    if size > 1 { state.expected.insert(operation.id) }
                    continue
                }
                if begun.insert(group).inserted { state.groups[group] = Group() }
                state.groups[group]?.expected.insert(operation.id)
                state.groups[group]?.order.append(operation.id)
                state.groupOf[operation.id] = group
            }
        }
    }

    /// Notes that an operation will send nothing more.
    ///
    /// - Parameter isGone: whether it has left its group, so that the others are sent without it.
    func leave(_ id: String, isGone: Bool = false) {
        update { state in
            state.expected.remove(id)
            state.order[id] = nil
            if let group = state.groupOf.removeValue(forKey: id), state.groups[group]?.expected.remove(id) != nil,
                !isGone
            {
                state.groups[group]?.isBroken = true
            }
        }
    }

    /// Sends the request with the other concurrent ones, or alone if it belongs to no batch.
    func send(_ request: Request) async throws -> Response {
        guard let id = request.context.batchMember else { return try await forward(request) }
        let group = state.withLock { $0.groupOf[id] }
        let canHold = BatchRequest.canHold(request, endpoint)
        guard canHold, support.mayTake(group: group != nil) else {
            leave(id)
            if group != nil { throw Self.groupRefusal(isMissing: canHold, wasSent: false) }
            return try await forward(request)
        }
        let part = BatchRequest.Part(id: id, group: group, request: request)
        let watch = wanted == nil && group == nil ? watch() : nil
        let turn = await withTaskCancellationHandler {
            await withCheckedContinuation {
                arrive(Waiting(part: part, turn: $0))
                // If the task was cancelled before the wait began, the cancel handler found no wait.
                if Task.isCancelled { withdraw(id) }
            }
        } onCancel: {
            withdraw(id)
        }
        watch?.cancel()
        switch turn {
        case .answer(let answer): return try answer.get()
        case .send(let parts): return try await send(parts, as: id)
        }
    }

    /// Sends a request alone, and notes from the answer whether the server accepts batches.
    private func forward(_ request: Request) async throws -> Response {
        let response = try await inner.send(request)
        if endpoint.isOrigin(of: request.head) { support.noteOffer(in: response) }
        return response
    }

    /// The time without arrivals or departures after which a waiting request counts as stalled.
    private static let patience = Duration.seconds(2)

    /// Watches for a stall if batches were not requested explicitly. A filter may pass requests only one by one: then
    /// the first one waits for others that wait for it. After a while without arrivals or departures, the waiting
    /// requests are sent as they are.
    ///
    /// - Returns: nil if another request watches already.
    private func watch() -> Task<Void, Never>? {
        let isFirst = state.withLock { $0.waiting.isEmpty && $0.expected.count > 1 }
        guard isFirst else { return nil }
        return Task(executorPreference: environment.executor) { [weak self, environment] in
            var seen = -1
            while let steps = self?.state.withLock({ $0.steps }) {
                if steps == seen { self?.giveUpWaiting() }
                seen = steps
                do { try await environment.sleep(Self.patience) } catch { return }
            }
        }
    }

    private func giveUpWaiting() {
        update { state in
            if state.waiting.isEmpty || state.expected.isEmpty { return }
            state.expected = []
            support.noteStall()
        }
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

    private func arrive(_ waiting: Waiting) {
        update { state in
            let id = waiting.part.id
            state.expected.remove(id)
            if let group = waiting.part.group {
                state.groups[group]?.expected.remove(id)
                state.groups[group]?.waiting.append(waiting)
            } else {
                state.waiting.append(waiting)
            }
        }
    }

    /// Withdraws a request that was not sent yet, because its task is cancelled.
    private func withdraw(_ id: String) {
        resume { state in
            var withdrawn = state.waiting.filter { $0.part.id == id }
            state.waiting.removeAll { $0.part.id == id }
            if let group = state.groupOf[id] {
                withdrawn += state.groups[group]?.waiting.filter { $0.part.id == id } ?? []
                state.groups[group]?.waiting.removeAll { $0.part.id == id }
                state.groups[group]?.isBroken = true
            }
            let error = SluiceError(
                .cancelled, "the request was cancelled", cause: RequestNotSent("its batch was not sent"))
            return withdrawn.map { ($0.turn, .answer(.failure(error))) }
        }
    }

    /// Changes the state, then resumes the requests that are due.
    private func resume(
        _ change: (inout State) -> [(CheckedContinuation<Turn, Never>, Turn)]
    ) {
        let size = size
        let turns = state.withLock { state in
            state.steps += 1
            return change(&state) + Self.due(&state, size)
        }
        for (continuation, turn) in turns { continuation.resume(returning: turn) }
    }

    private func update(_ change: (inout State) -> Void) {
        resume { state in
            change(&state)
            return []
        }
    }

    private static func due(_ state: inout State, _ size: Int) -> [(CheckedContinuation<Turn, Never>, Turn)] {
        var turns: [(CheckedContinuation<Turn, Never>, Turn)] = []
        let whole = state.groups.filter { $0.value.expected.isEmpty && !$0.value.waiting.isEmpty }
        for (name, group) in whole.sorted(by: { $0.key < $1.key }) {
            state.groups[name]?.waiting = []
            if group.isBroken {
                let skipped = Response(HTTPResponse(status: .init(code: 424)))
                turns += group.waiting.map { ($0.turn, .answer(.success(skipped))) }
            } else {
                let ordered = group.order.compactMap { id in group.waiting.first { $0.part.id == id } }
                turns += lead(ordered, &state)
            }
        }
        if state.waiting.count >= size || state.expected.isEmpty {
            let order = state.order
            state.waiting.sort { order[$0.part.id] ?? 0 < order[$1.part.id] ?? 0 }
        }
        while state.waiting.count >= size || (state.expected.isEmpty && !state.waiting.isEmpty) {
            let user = BatchRequest.user(of: state.waiting[0].part.request)
            let together = state.waiting.filter { BatchRequest.user(of: $0.part.request).hasSameBytes(as: user) }
                .prefix(size)
            let ids = Set(together.map(\.part.id))
            state.waiting.removeAll { ids.contains($0.part.id) }
            turns += lead(Array(together), &state)
        }
        return turns
    }

    /// Makes the first request send all of them; the others wait for it.
    private static func lead(
        _ waiting: [Waiting], _ state: inout State
    ) -> [(CheckedContinuation<Turn, Never>, Turn)] {
        guard let first = waiting.first else { return [] }
        for other in waiting.dropFirst() { state.turns[other.part.id] = other.turn }
        return [(first.turn, .send(waiting.map(\.part)))]
    }

    private func send(_ parts: [BatchRequest.Part], as id: String) async throws -> Response {
        let answers = await answers(to: parts)
        let turns = state.withLock { state in
            for part in parts {
                if let group = part.group, state.groupOf[part.id] != nil {
                    // Each may be retried after a transient failure; they are sent together then too.
                    state.groups[group]?.expected.insert(part.id)
                } else if case .success(let answer) = answers[part.id], answer.status == 401 {
                    // All of them are retried with a new access token.
                    state.expected.insert(part.id)
                }
            }
            return parts.compactMap { part in state.turns.removeValue(forKey: part.id).map { (part.id, $0) } }
        }
        for (id, turn) in turns { turn.resume(returning: .answer(answers[id] ?? .failure(Self.noAnswer))) }
        return try (answers[id] ?? .failure(Self.noAnswer)).get()
    }

    private static func refused(_ response: Response) -> SluiceError {
        SluiceError(
            .brokenProtocol,
            "the batch of a group was answered \(response.status) as a whole, which says nothing of its "
                + "changes")
    }

    private static var givenUp: SluiceError {
        SluiceError(.timeout, "the batch was given up before it was answered")
    }

    private static var noAnswer: SluiceError { SluiceError(.brokenProtocol, "there is no answer to the request") }

    private func answers(to parts: [BatchRequest.Part]) async -> [String: Result<Response, any Error>] {
        let batch = BatchRequest(parts: parts, endpoint: endpoint)
        let isGroup = parts.contains { $0.group != nil }
        if parts.count == 1, !isGroup { return batch.answers(await alone(parts[0].request)) }
        do {
            let response = try await forward(batch.request())
            let verdict = support.note(response)
            if verdict == .taken, !BatchSupport.saysNothingOfParts(response) { return batch.answers(in: response) }
            if isGroup {
                let refusal = Self.groupRefusal(isMissing: true, wasSent: verdict == .mistaken)
                return batch.answers(.failure(verdict == .taken ? Self.refused(response) : refusal))
            }
        } catch {
            // The sending task may have timed out or been cancelled: for the others only the sending has ended.
            var answers = batch.answers(.failure(Task.isCancelled ? Self.givenUp : error))
            answers[parts[0].id] = .failure(error)
            return answers
        }
        var answers: [String: Result<Response, any Error>] = [:]
        for part in parts { answers[part.id] = await alone(part.request) }
        return answers
    }

    private func alone(_ request: Request) async -> Result<Response, any Error> {
        do { return .success(try await forward(request)) } catch { return .failure(error) }
    }
}
