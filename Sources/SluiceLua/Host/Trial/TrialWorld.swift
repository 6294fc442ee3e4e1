internal import HTTPTypes
package import SluiceCore
internal import Synchronization

/// What is around a plugin that is tried out: all of it made up.
package struct TrialWorld: Sendable {
    /// The time. It moves where the script sleeps, by as much.
    package var clock = Timestamp("2026-01-01T00:00:00Z") ?? Timestamp(ticks: 0)
    /// The seed of chance.
    package var seed: UInt64 = 1
    /// Answers `http.request`.
    package var http: @Sendable (Request) async throws -> Response = { request in
        throw SluiceError(.network, "nothing answers \(request.head.path ?? "/")")
    }
    /// Answers `next(req)`, and requests that go on.
    package var next: @Sendable (Request) async throws -> Response = { _ in
        Response(HTTPResponse(status: .ok))
    }
    /// What `kv` holds: the value, and when it ends.
    package var values: [String: (value: JSON, endsAt: Timestamp?)] = [:]
    /// The values of secrets.
    package var secrets: [String: String] = [:]
    /// The rows of the local store, by table.
    package var rows: [String: [JSON]] = [:]
    /// The wire: which fields of a record are the server's.
    package var dialect: Dialect = .azureV2
    /// Declared columns of tables.
    package var tables: [TableSchema] = []

    /// A world in which there is nothing.
    package init() {}

    /// Options by which plugins see this world.
    func options(_ time: TrialClock, _ storage: any PluginStorage, _ store: any LocalStore) -> PluginOptions {
        let secrets = secrets
        var options = PluginOptions(
            environment: SyncEnvironment(
                now: { time.now }, makeID: { "id" }, sleep: { pause in await time.sleep(pause) }, random: { 0.5 }),
            transport: TrialTransport(answer: http), store: store, storage: storage, secret: { secrets[$0] },
            dialect: dialect, tables: tables, keepsInputs: true)
        options.seed = seed
        return options
    }
}

/// A clock that moves where somebody sleeps. Who waits for the end of a call's time waits until the call is over.
final class TrialClock: Sendable {
    private let time: Mutex<Timestamp>

    init(_ time: Timestamp) { self.time = Mutex(time) }

    var now: Timestamp { time.withLock { $0 } }

    func sleep(_ pause: Duration) async { time.withLock { $0 = $0.advanced(by: pause) } }
}

/// A transport that is a function.
struct TrialTransport: Transport {
    let answer: @Sendable (Request) async throws -> Response

    func send(_ request: Request) async throws -> Response { try await answer(request) }
}
