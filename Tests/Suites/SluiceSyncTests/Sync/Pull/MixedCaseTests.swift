import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Ids in both cases on a server that sorts by bytes and compares without case")
struct MixedCaseTests {
    /// The answers of such a server.
    private struct Server {
        let ids: [String]

        func page(_ request: PullRequest) -> PullPage {
            var found = ids.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
            switch request.position {
            case .behindID(let id?): found = found.filter { $0.lowercased() > id.text.lowercased() }
            case .upToID(let id): found = found.filter { $0.lowercased() <= id.text.lowercased() }.reversed()
            default: break
            }
            let rows = found.dropFirst(request.skip).prefix(request.top).map {
                RowPage.Row(id: RecordID($0), version: "1", updatedAt: nil, isDeleted: false, token: 0)
            }
            return PullPage(rows: Array(rows), asked: request.top)
        }
    }

    /// Returns `count` UUIDs, each in the case that `isUpper` says.
    private func uuids(_ count: Int, seed: UInt64, isUpper: (Int) -> Bool) -> [String] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        return (0..<count).map { index in
            var digits = ""
            for place in 0..<32 {
                if [8, 12, 16, 20].contains(place) { digits += "-" }
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                digits += String(Int(state >> 60), radix: 16)
            }
            return isUpper(index) ? digits.uppercased() : digits
        }
    }

    private func pull(_ server: Server) -> Set<RecordID> {
        var session = FullPullSession(query: TableQuery("todos"), pageSize: 20)
        var effect = session.handle(.began)
        var (stored, page): (Set<RecordID>, PullPage) = ([], PullPage(rows: []))
        for _ in 0..<10_000 {
            switch effect {
            case .request(let request), .ask(let request):
                page = server.page(request)
                effect = session.handle(.page(page))
            case .commit(let rows, _):
                stored.formUnion(rows.map { page.rows[$0].id })
                effect = session.handle(.committed)
            case .finish: return stored
            }
        }
        return []
    }

    @Test("all rows come, wherever the pages end", arguments: 1...60 as ClosedRange<UInt64>)
    func all(seed: UInt64) {
        let halves = uuids(130, seed: seed) { $0 % 2 == 0 }
        #expect(pull(Server(ids: halves)).count == 130)
        let few = uuids(130, seed: seed) { $0 % 29 == 0 }
        #expect(pull(Server(ids: few)).count == 130)
    }
}
