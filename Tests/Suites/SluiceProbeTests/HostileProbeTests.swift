import HostileCases
import SluiceCore
import SluiceHTTP
import Testing

@testable import SluiceProbe

/// A probe of the server that lies, on a real socket.
struct HostileProbe {
    /// The result: the report, or the error with which nothing could be seen.
    var report: ProbeReport?
    var error: SluiceError?
    var violations: [String] = []

    static let token = "secret-probe-token"

    init(_ hostile: HostileCase) async throws {
        self = try await HostileServer.run(hostile) { server in try await HostileProbe(hostile, server) }
    }

    private init(_ hostile: HostileCase, _ server: HostileServer) async throws {
        var options = ProbeOptions(table: "items")
        if [.insert, .update, .delete, .batch].contains(hostile.call) { options.scratch = "items" }
        options.bounds.duration = .seconds(10)
        options.bounds.requests = 200
        var client = ClientOptions(tokenProvider: Token(), limits: hostile.limits.exchange)
        client.limits.deadline = min(client.limits.deadline, .milliseconds(300))
        let start = ContinuousClock.now
        do {
            report = try await ServerProbe(
                endpoint: try Endpoint(server.url), transport: AsyncHTTPTransport(), client: client, options: options
            ).run()
        } catch let error as SluiceError {
            self.error = error
        }
        func demand(_ holds: Bool, _ reason: String) { if !holds { violations.append(reason) } }
        demand(ContinuousClock.now - start < .seconds(50), "it took \(ContinuousClock.now - start)")
        demand(server.requests.count <= 200 + 61, "it sent \(server.requests.count) requests")
        demand(server.elsewhere.isSilent, "it went to another server")
        let texts = (report?.findings.map(\.seen) ?? []) + (report?.facts.map(\.text) ?? []) + [error?.message ?? ""]
        demand(!texts.contains { $0.contains(Self.token) }, "it says the token")
        demand(
            texts.allSatisfy { text in
                text.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) }
            }, "it says control characters")
        // None of these servers sends a Date.
        let named = report.map { $0.findings.contains { $0.code != .clockMissing } }
        let isReading = [.pull, .pullAll, .pages].contains(hostile.call)
        demand(
            !isReading || hostile.outcome.error == nil || named ?? true,
            "it finds nothing, and \(hostile.call) ends with \(hostile.outcome)")
    }

    private struct Token: TokenProvider {
        func token() async throws -> String? { HostileProbe.token }
        func refresh(refused: String?) async throws -> String? { nil }
    }
}

@Suite("A probe of a hostile server", .serialized, .timeLimit(.minutes(10))) struct HostileProbeTests {
    /// Every sixth case, so that each group has some.
    static let cases = HostileCase.all.enumerated().filter { $0.offset % 6 == 0 }.map(\.element)

    @Test("it ends, goes nowhere else, says no secret, and takes no broken server for a sound one", arguments: cases)
    func holds(_ hostile: HostileCase) async throws {
        let probe = try await HostileProbe(hostile)
        #expect(probe.violations.isEmpty, "\(hostile)")
    }
}
