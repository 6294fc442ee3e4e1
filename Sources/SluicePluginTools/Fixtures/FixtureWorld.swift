internal import HTTPTypes
internal import SluiceCore
internal import SluiceLua
internal import Synchronization

/// The world around a plugin, faked whole: a clock that moves where the script sleeps, and answers that were written
/// down. What nobody wrote down is a fault of the fixture or of the script, and is kept.
final class FixtureWorld: Sendable {
    /// What is written down.
    struct Script: Sendable {
        /// An exchange of `http.request`.
        struct Exchange: Sendable {
            var method: String?
            var url: String?
            var reply: Reply
        }
        enum Reply: Sendable {
            case response(Response)
            case error(String)
        }

        var clock = FixtureWorld.begin
        var seed: UInt64 = 1
        var http: [Exchange] = []
        var next: [Reply] = []
        var values: [String: KeyValues.Entry] = [:]
        var secrets: [String: String] = [:]
        var rows: [(table: String, record: JSON)] = []
    }

    /// The time where none is written down.
    static let begin = Timestamp("2026-01-01T00:00:00Z") ?? Timestamp(ticks: 0)

    private struct State {
        var now: Timestamp
        var http: ArraySlice<Script.Exchange>
        var next: ArraySlice<Script.Reply>
        var values: [String: JSON]
        var sent: [Request] = []
        var faults: [String] = []
        /// The question that a hook around a table is asked, and what it gave to `next`.
        var question: TableQuestion?
        var edit: TableRequestEdit?
        /// The records that `next` brought.
        var rows = GivenRows()
    }

    let script: Script
    private let state: Mutex<State>
    private let store = MemoryStore()
    /// What a spec's own calls go to; nil where no spec runs.
    private let stage: SpecStage?

    init(_ script: Script, stage: SpecStage? = nil) {
        self.script = script
        self.stage = stage
        state = Mutex(
            State(
                now: script.clock, http: script.http[...], next: script.next[...],
                values: script.values.mapValues(\.saved)))
    }

    /// Puts the rows into the store.
    func prepare() async throws {
        let rows = script.rows
        guard !rows.isEmpty else { return }
        try await store.write { writer in for row in rows { try writer.put(row.record, in: row.table) } }
    }

    var environment: SyncEnvironment {
        SyncEnvironment(now: { [self] in now }, makeID: { "00000000-0000-4000-8000-000000000000" }, sleep: { _ in })
    }

    var now: Timestamp { state.withLock { $0.now } }
    /// What was given to `next`, in order.
    var sent: [Request] { state.withLock { $0.sent } }
    /// The same, which is let go of here.
    func takeSent() -> [Request] {
        state.withLock { state in
            defer { state.sent = [] }
            return state.sent
        }
    }
    /// The plugin's values, as they are kept.
    var values: [String: JSON] { state.withLock { $0.values } }
    /// What the script asked for and nobody wrote down, and what was written down and not asked for.
    var faults: [String] {
        state.withLock { state in
            state.faults + (state.http.isEmpty ? [] : ["host.http: \(state.http.count) not asked for"])
        }
    }

    /// Puts answers after those that are left, and sets the clock, for the next call.
    func goOn(with script: Script, setsClock: Bool) {
        state.withLock { state in
            state.http += script.http
            state.next += script.next
            if setsClock { state.now = script.clock }
        }
    }

    func save(_ saved: [String: JSON?]) {
        state.withLock { state in for (key, value) in saved { state.values[key] = value } }
    }

    /// Does what a script waits for.
    func perform(_ wait: HostWait, within time: Duration?) async -> WaitResult {
        switch wait {
        case .sleep(let pause):
            if let time, pause > time { return .ended(.deadline) }
            state.withLock { $0.now = $0.now.advanced(by: pause) }
            return .reply(.value(nil))
        case .next(let request): return answer(request)
        case .table(let edit): return answer(edit)
        case .http(let request): return .reply(answer(http: request))
        case .spec(let function, let arguments):
            guard let stage else { break }
            return .reply(await stage.perform(function, arguments))
        case .record, .count:
            let services = HostServices(
                environment: environment, timer: { _ in }, transport: nil, store: store, storage: MemoryPluginValues())
            return await services.perform(wait, within: nil)
        }
        return .reply(.failure("there is no spec"))
    }

    private func answer(_ request: Request) -> WaitResult {
        let reply = state.withLock { state -> Script.Reply? in
            state.sent.append(request)
            if state.next.isEmpty { state.faults.append("host.next: no answer left for \(Self.words(request))") }
            return state.next.popFirst()
        }
        switch reply {
        case .response(let response): return .response(response, after: .zero)
        case .error(let message): return .nextFailed(message, after: .zero)
        case nil: return .nextFailed("the fixture has no answer for next", after: .zero)
        }
    }

    /// Has a table's server answer from now on: with what `host.next` says, else as if the request were carried out.
    func serve(_ question: TableQuestion) -> GivenRows {
        let rows = GivenRows()
        state.withLock { ($0.question, $0.edit, $0.rows) = (question, nil, rows) }
        return rows
    }

    /// What the script gave to the `next` of a table; nil where it did not call it.
    var edit: TableRequestEdit? { state.withLock { $0.edit } }

    private func answer(_ edit: TableRequestEdit) -> WaitResult {
        state.withLock { state in
            state.edit = edit
            switch state.next.popFirst() {
            case .response(let response):
                let body = (try? response.body.json) ?? .array
                return .rows(state.rows.give(body.elements ?? [body]), after: .zero)
            case .error(let message): return .nextFailed(message, after: .zero)
            case nil:
                let record = edit.record ?? state.question?.record
                let stored = state.question?.replaces == true ? nil : state.question?.stored
                let made = record.map { (stored ?? .object).setting($0) } ?? stored
                return .rows(state.rows.give([made].compactMap { $0 }), after: .zero)
            }
        }
    }

    private func answer(http request: Request) -> HostReply {
        let found = Self.words(request)
        let exchange = state.withLock { state -> Script.Exchange? in
            guard let exchange = state.http.popFirst() else {
                state.faults.append("host.http: no answer left for \(found)")
                return nil
            }
            let method = exchange.method ?? request.head.method.rawValue
            let expected = "\(method) \(exchange.url ?? RequestDocument.url(of: request.head))"
            if expected != found { state.faults.append("host.http: expected \(expected), found \(found)") }
            return exchange
        }
        switch exchange?.reply {
        case .response(let response): return HostFunctions.document(of: response)
        case .error(let message): return .failure(message)
        case nil: return .failure("the fixture has no answer for http.request")
        }
    }

    private static func words(_ request: Request) -> String {
        "\(request.head.method.rawValue) \(RequestDocument.url(of: request.head))"
    }
}
