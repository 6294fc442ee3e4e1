import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Reconcile session: what differs between the rows here and the server's")
struct ReconcileSessionTests {
    private typealias Rows = [RecordID: String?]

    private static func rows(_ range: Range<Int>, version: String = "1") -> Rows {
        Dictionary(uniqueKeysWithValues: range.map { (id($0), .some(version)) })
    }

    private static func id(_ number: Int) -> RecordID { RecordID("r\(10_000 + number)") }

    /// A server that has those rows, and answers digests by as many ranges.
    private struct Server {
        let rows: Rows
        var ranges = 4

        func listed(_ range: TableDigest.Range?) -> Rows {
            rows.filter { id, _ in range.map { $0.from <= id && id <= $0.to } ?? true }
        }

        func digest(_ range: TableDigest.Range?) -> TableDigest? {
            let here = LocalQueryRows(listed(range))
            let size = max(1, (here.ids.count + ranges - 1) / ranges)
            func json(_ ids: some Sequence<RecordID>) -> [(name: String, value: JSON)] {
                let sum = here.sum(of: ids)
                return [("count", JSON(sum.count)), ("digest", JSON(sum.text))]
            }
            let parts = stride(from: 0, to: here.ids.count, by: size).map { start in
                let ids = here.ids[start..<min(start + size, here.ids.count)]
                return JSON(
                    members: [("from", JSON(ids.first ?? "")), ("to", JSON(ids.last ?? ""))] + json(ids))
            }
            return TableDigest(JSON(members: json(here.ids) + [("ranges", JSON(parts))]))
        }
    }

    /// Plays a session to its end, and counts what it asked for.
    private func play(
        _ held: Rows, pending: Set<RecordID> = [], _ server: Server, digests: Bool = true
    ) -> (ReconcileSession.Difference, digests: Int, lists: Int, listed: Int) {
        var session = ReconcileSession(held: LocalQueryRows(held), pending: pending)
        var (asked, lists, listed) = (0, 0, 0)
        var effect = session.handle(.began)
        while true {
            switch effect {
            case .digest(let range):
                asked += 1
                effect = session.handle(.digest(digests ? server.digest(range) : nil))
            case .list(let range):
                lists += 1
                let rows = server.listed(range)
                listed += rows.count
                effect = session.handle(.listed(rows))
            case .finish(let difference): return (difference, asked, lists, listed)
            }
        }
    }

    @Test("equal rows take one digest and no list")
    func equal() {
        let (difference, digests, lists, _) = play(Self.rows(0..<100), Server(rows: Self.rows(0..<100)))
        #expect(difference.wanted.isEmpty && difference.missing.isEmpty && difference.usedDigest)
        #expect(digests == 1 && lists == 0)
    }

    @Test("a few rows that differ among many are found without listing all")
    func few() {
        let all = Self.rows(0..<8000)
        var (held, remote) = (all, all)
        held[Self.id(17)] = nil
        remote[Self.id(4000)] = .some("2")
        remote[Self.id(7999)] = nil
        let (difference, digests, _, listed) = play(held, Server(rows: remote, ranges: 16))
        #expect(difference.wanted.sorted() == [Self.id(17), Self.id(4000)])
        #expect(difference.missing == [Self.id(7999)])
        #expect(digests == 1 && listed <= 3 * 500)
    }

    @Test("a range with very many rows is taken apart further")
    func deep() {
        let all = Self.rows(0..<40_000)
        var remote = all
        remote[Self.id(20_001)] = .some("2")
        let (difference, digests, lists, listed) = play(all, Server(rows: remote))
        #expect(difference.wanted == [Self.id(20_001)])
        #expect(digests > 2 && lists == 1 && listed <= 500)
    }

    @Test("without digests all is listed, and a digest that takes nothing apart is not asked again")
    func lists() {
        let (held, remote) = (Self.rows(0..<30), Self.rows(10..<40))
        let (difference, digests, lists, _) = play(held, Server(rows: remote), digests: false)
        #expect(difference.wanted.count == 10 && difference.missing.count == 10 && !difference.usedDigest)
        #expect(digests == 1 && lists == 1)
        let single = play(Self.rows(0..<2000), Server(rows: Self.rows(0..<2000, version: "2"), ranges: 1))
        #expect(single.0.wanted.count == 2000)
        #expect(single.digests == 2)
        #expect(single.lists == 1)
    }

    @Test("rows whose changes wait are counted, and neither fetched nor let go")
    func pending() {
        var remote = Self.rows(0..<10)
        remote[Self.id(1)] = .some("2")
        remote[Self.id(2)] = nil
        let pending: Set = [Self.id(1), Self.id(2), Self.id(3)]
        for digests in [true, false] {
            let server = Server(rows: remote)
            let (difference, _, _, _) = play(Self.rows(0..<10), pending: pending, server, digests: digests)
            #expect(difference.wanted.isEmpty && difference.missing.isEmpty && difference.pending == 2)
            #expect(difference.listed[Self.id(1)] == .some("2") && difference.unlisted == [Self.id(2)])
        }
    }
}
