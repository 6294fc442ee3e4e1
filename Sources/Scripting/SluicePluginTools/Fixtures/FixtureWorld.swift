internal import HTTPTypes
internal import SluiceCore
internal import SluiceLua
internal import Synchronization

/// A completely simulated world for a plugin: its clock moves when the script sleeps, and its answers come from a
/// script. A request without an answer is recorded as a fault.
final class FixtureWorld: Sendable {
    /// The content of the world.
    struct Script: Sendable {
        /// An exchange of `http.request`.
        struct Exchange: Sendable {
            var method: String?
            var url: String?
            var reply: Reply
        }
        enum Reply: Sendable {
            case response(SyncResponse)
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

    /// The time of a world without one.
    static let begin = Timestamp("2026-01-01T00:00:00Z") ?? Timestamp(ticks: 0)

    private struct State {
        var now: Timestamp
        var http: ArraySlice<Script.Exchange>
        var next: ArraySlice<Script.Reply>
        var values: [String: JSON]
        var sent: [SyncRequest] = []
        var faults: [String] = []
        /// The current request of a hook around a table, and the script's changes of it.
        var question: TableQuestion?
        var edit: TableRequestEdit?
        /// The records that `next` returned.
        var rows = GivenRows()
    }

    let script: Script
    private let state: Mutex<State>
    private let store = MemoryStore()

    init(_ script: Script) {
        self.script = script
        state = Mutex(
            State(
                now: script.clock, http: script.http[...], next: script.next[...],
                values: script.values.mapValues(\.saved)))
    }

    /// Writes the rows to the store.
    func prepare() async throws {
        let rows = script.rows
        guard !rows.isEmpty else { return }
        try await store.write { writer in for row in rows { try writer.put(row.record, in: row.table) } }
    }

    var environment: SyncEnvironment {
        SyncEnvironment(now: { [self] in now }, makeID: { "00000000-0000-4000-8000-000000000000" }, sleep: { _ in })
    }

    var now: Timestamp { state.withLock { $0.now } }
    /// The requests given to `next`, in order.
    var sent: [SyncRequest] { state.withLock { $0.sent } }
    /// The plugin's saved values.
    var values: [String: JSON] { state.withLock { $0.values } }
    /// The requests without an answer, and a note on answers that were never used.
    var faults: [String] {
        state.withLock { state in
            state.faults + (state.http.isEmpty ? [] : ["host.http: \(state.http.count) not asked for"])
        }
    }

    func save(_ saved: [String: JSON?]) {
        state.withLock { state in for (key, value) in saved { state.values[key] = value } }
    }

    /// Carries out a wait of a script.
    func perform(_ wait: HostWait, within time: Duration?) async -> WaitResult {
        switch wait {
        case .sleep(let pause):
            if let time, pause > time { return .ended(.deadline) }
            state.withLock { $0.now = $0.now.advanced(by: pause) }
            return .reply(.value(nil))
        case .next(let request): return answer(request)
        case .table(let edit): return answer(edit)
        case .http(let request): return .reply(answer(http: request))
        case .record, .count:
            let services = HostServices(
                environment: environment, timer: { _ in }, transport: nil, store: store, storage: MemoryPluginValues())
            return await services.perform(wait, within: nil)
        }
    }

    private func answer(_ request: SyncRequest) -> WaitResult {
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

    /// Prepares the answer of a table's server: the one in `host.next`, or else the result of carrying out the request.
    func serve(_ question: TableQuestion) -> GivenRows {
        let rows = GivenRows()
        state.withLock { ($0.question, $0.edit, $0.rows) = (question, nil, rows) }
        return rows
    }

    /// The script's changes of the request, at its `next` of a table; nil if it did not call it.
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

    private func answer(http request: SyncRequest) -> HostReply {
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

    private static func words(_ request: SyncRequest) -> String {
        "\(request.head.method.rawValue) \(RequestDocument.url(of: request.head))"
    }
}

extension FixtureWorld.Script {
    /// Reads the `host` of a fixture.
    init(_ place: JSONPlace) throws(SluiceError) {
        let members = try place.members(["clock", "random", "http", "next", "kv", "secrets", "store"])
        if let clock = members["clock"] {
            guard let time = clock.value.string.flatMap({ Timestamp($0) }) else {
                throw clock.expected("a time such as \"2026-01-01T00:00:00Z\"")
            }
            self.clock = time
        }
        if let seed = members["random"] { self.seed = UInt64(try seed.integer(in: 0...Int.max)) }
        for exchange in try members["http"]?.items(upTo: 64) ?? [] {
            let parts = try exchange.members(["expect", "reply", "error"])
            let expected = try parts["expect"]?.members(["method", "url"])
            let reply: Reply
            if let error = parts["error"] {
                reply = .error(try error.text())
            } else {
                reply = try .response(FixtureMessage.response(parts["reply"] ?? exchange.child(.object, "reply")))
            }
            http.append(
                Exchange(method: try expected?["method"]?.text(), url: try expected?["url"]?.text(8_192), reply: reply))
        }
        for answer in try members["next"]?.items(upTo: 64) ?? [] {
            if let error = answer.value["error"] {
                _ = try answer.members(["error"])
                next.append(.error(try answer.child(error, "error").text()))
            } else {
                next.append(.response(try FixtureMessage.response(answer)))
            }
        }
        for (name, value) in try members["secrets"]?.entries(upTo: 64) ?? [] { secrets[name] = try value.text(65_536) }
        for (key, value) in try members["kv"]?.entries(upTo: 10_000) ?? [] { values[key] = try entry(value) }
        for (table, records) in try members["store"]?.entries(upTo: 64) ?? [] {
            for record in try records.items(upTo: 10_000) { rows.append((table, record.value)) }
        }
    }

    /// Reads a value of `kv`, or one with its remaining time.
    private func entry(_ place: JSONPlace) throws(SluiceError) -> KeyValues.Entry {
        guard Set(place.value.names) == ["value", "ttl"], let value = place.value["value"] else {
            return KeyValues.Entry(place.value)
        }
        let rest = try place.child(place.value["ttl"] ?? .null, "ttl").seconds()
        return KeyValues.Entry(value, endsAt: clock.advanced(by: rest))
    }
}

extension JSONPlace {
    fileprivate func text(_ longest: Int) throws(SluiceError) -> String { try text(upTo: longest) }

    /// Reads a number of seconds from 0 to 10⁹.
    func seconds() throws(SluiceError) -> Duration {
        guard let seconds = value.double, (0...1e9).contains(seconds), let time = Duration.checked(seconds: seconds)
        else { throw expected("a number of seconds from 0") }
        return time
    }
}

/// Headers and bodies in the format of fixtures.
enum FixtureMessage {
    static func response(_ place: JSONPlace) throws(SluiceError) -> SyncResponse {
        let members = try place.members(["status", "headers", "body", "elapsed"])
        let status = try members["status"]?.integer(in: 100...599) ?? 200
        var response = SyncResponse(HTTPResponse(status: HTTPResponse.Status(code: status)))
        response.head.headerFields = try members["headers"].map(headers) ?? HTTPFields()
        response.body = body(members["body"]?.value)
        return response
    }

    /// Reads an object of names and values, or a list of pairs.
    static func headers(_ place: JSONPlace) throws(SluiceError) -> HTTPFields {
        var fields = HTTPFields()
        func add(_ name: String, _ value: JSONPlace) throws(SluiceError) {
            guard let name = HTTPField.Name(name), let text = value.value.string, HTTPField.isValidValue(text) else {
                throw value.expected("the text of a header field")
            }
            fields.append(HTTPField(name: name, value: text))
        }
        if place.value.kind == .array {
            for entry in try place.items(upTo: 256) {
                let pair = try entry.items(upTo: 2)
                guard pair.count == 2 else { throw entry.expected("a name and a value") }
                try add(try pair[0].text(), pair[1])
            }
        } else {
            for (name, value) in try place.entries(upTo: 256) { try add(name, value) }
        }
        return fields
    }

    /// Reads a body: a text is its bytes, null is an empty body, and any other value is JSON.
    static func body(_ value: JSON?) -> MessageBody {
        guard let value, !value.isNull else { return .empty }
        return value.string.map { MessageBody(bytes: Array($0.utf8)) } ?? MessageBody(json: value)
    }
}
