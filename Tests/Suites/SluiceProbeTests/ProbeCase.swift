import SluiceCore
import SluiceTesting

@testable import SluiceProbe

/// One fault of a server, and the code that a probe has to name.
struct ProbeCase: Sendable, CustomStringConvertible {
    let description: String
    let code: ProbeFinding.Code
    /// Whether the probe is told to write.
    let writes: Bool
    let pageSize: Int
    /// Prepares the model server.
    let prepare: @Sendable (ModelServer) -> Void
    let fault: FaultyServer.Fault

    init(
        _ code: ProbeFinding.Code, _ description: String, writes: Bool = false, pageSize: Int = 50,
        prepare: @escaping @Sendable (ModelServer) -> Void = { _ in },
        _ fault: @escaping FaultyServer.Fault = { request, _, pass in try await pass(request) }
    ) {
        (self.code, self.description, self.writes, self.pageSize) = (code, description, writes, pageSize)
        (self.prepare, self.fault) = (prepare, fault)
    }

    static func change(_ model: ModelServer, _ change: (inout ModelServer.Traits) -> Void) {
        var traits = ModelServer.Traits()
        change(&traits)
        model.set(traits)
    }

    func report(
        requests: Int = 500, now offset: Duration = .zero, slowness: Duration = .zero
    ) async throws -> (ProbeReport, ModelServer) {
        let model = FaultyServer.model(pageSize: pageSize)
        prepare(model)
        let report = try await Self.probe(
            FaultyServer(model, fault), writes: writes, requests: requests, now: offset, slowness: slowness)
        return (report, model)
    }

    static let token = "secret-token-0123"

    static func probe(
        _ server: any Transport, writes: Bool, requests: Int = 500, now offset: Duration = .zero,
        slowness: Duration = .zero
    ) async throws -> ProbeReport {
        let steps = Counter()
        let late = Timestamp(ticks: FaultyServer.start.ticks + offset.components.seconds * Timestamp.ticksPerSecond)
        let client = ClientOptions(
            tokenProvider: FixedToken(text: token),
            environment: SyncEnvironment(
                now: { late },
                steady: {
                    Timestamp(ticks: Int64(steps.next()) * slowness.components.seconds * Timestamp.ticksPerSecond)
                },
                makeID: { "00000000-0000-7000-8000-00000000\(1000 + steps.next())" }))
        var options = ProbeOptions(table: "items")
        options.scratch = writes ? "probes" : nil
        options.bounds.requests = requests
        if slowness > .zero { options.bounds.duration = .seconds(1_000_000) }
        return try await ServerProbe(
            endpoint: try Endpoint("http://model.test"), transport: server, client: client, options: options
        ).run()
    }

    private struct FixedToken: TokenProvider {
        let text: String
        func token() async throws -> String? { text }
        func refresh(refused: String?) async throws -> String? { nil }
    }
}
