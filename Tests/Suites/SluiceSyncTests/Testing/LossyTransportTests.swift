import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("A lossy line") struct LossyTransportTests {
    private static let request = SyncRequest(
        HTTPRequest(method: .get, scheme: "https", authority: "example.net", path: "/tables/todos"))

    private func run(_ seed: UInt64) async -> (outcomes: [String], arrived: Int, line: LossyTransport) {
        let server = ScriptedTransport { _ in .json(200, "{}") }
        let line = LossyTransport(server, seed: seed)
        var outcomes: [String] = []
        for _ in 0..<200 {
            do {
                outcomes.append("\(try await line.send(Self.request).status)")
            } catch {
                outcomes.append("\(error)")
            }
        }
        return (outcomes, server.requests.count, line)
    }

    @Test("the same seed does the same") func repeats() async {
        #expect(await run(3).outcomes == run(3).outcomes)
        #expect(await run(3).outcomes != run(4).outcomes)
    }

    @Test("what is lost on the way out never arrives; what is lost on the way back did")
    func arrivals() async {
        let (_, arrived, line) = await run(5)
        let counts = line.counts
        #expect(counts.count == LossyTransport.Fault.allCases.count)
        #expect(
            arrived == 200 - counts[.requestLost, default: 0] - counts[.unavailable, default: 0]
                + counts[.duplicated, default: 0])
    }

    @Test("a healed line does nothing to a request") func heals() async throws {
        let (_, _, line) = await run(6)
        let faults = line.counts
        line.heal()
        for _ in 0..<50 {
            #expect(try await line.send(Self.request).status == 200)
        }
        #expect(line.counts == faults)
    }
}
