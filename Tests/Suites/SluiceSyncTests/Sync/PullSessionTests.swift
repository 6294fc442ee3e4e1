import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Pull sessions: pure state machines")
struct PullSessionTests {
    private func row(_ id: String, _ time: String?, version: String = "1") -> RowPage.Row {
        RowPage.Row(id: RecordID(id), version: version, updatedAt: time, isDeleted: false, token: 0)
    }

    private func request(_ effect: PullEffect) -> PullRequest? {
        if case .request(let request) = effect { request } else { nil }
    }

    private func commit(_ effect: PullEffect) -> (rows: [Int], cursor: String?)? {
        if case .commit(let rows, let cursor) = effect { (rows, cursor?.updatedAt) } else { nil }
    }

    private func isFinished(_ effect: PullEffect) -> Bool {
        if case .finish(nil) = effect { true } else { false }
    }

    @Test("the cursor is the last time as the server wrote it, and the next page is asked for from there")
    func cursor() {
        var session = IncrementalPullSession(cursor: nil, pageSize: 2, commitLag: 0)
        #expect(request(session.handle(.began)) == PullRequest(position: .start, skip: 0, top: 2))
        let page = PullPage(rows: [row("a", "2024-01-01T00:00:00.1Z"), row("b", "2024-01-01T00:00:00.1234567Z")])
        let stored = commit(session.handle(.page(page)))
        #expect(stored?.rows == [0, 1] && stored?.cursor == "2024-01-01T00:00:00.1234567Z")
        let next = request(session.handle(.committed))
        #expect(next == PullRequest(position: .changedSince("2024-01-01T00:00:00.1234567Z"), skip: 0, top: 2))
        let known = PullPage(rows: [row("b", "2024-01-01T00:00:00.1234567Z")])
        let others = request(session.handle(.page(known)))
        #expect(
            others?.position == .others(since: "2024-01-01T00:00:00.1234567Z", than: ["b"]), "a short page is no end")
        let untimed = request(session.handle(.page(PullPage(rows: []))))
        #expect(untimed == PullRequest(position: .withoutTime(behindID: nil), skip: 0, top: 2), "their pass comes last")
        #expect(isFinished(session.handle(.page(PullPage(rows: [])))))
    }

    @Test("a row of the group's time that the question for others shows is stored, and the group is read again")
    func otherOfTheGroup() {
        let (time, later) = ("2024-01-01T00:00:00Z", "2024-01-01T00:00:01Z")
        var session = IncrementalPullSession(cursor: nil, pageSize: 4, commitLag: 0)
        _ = session.handle(.began)
        _ = session.handle(.page(PullPage(rows: ["a", "b", "c"].map { row($0, time) })))
        #expect(request(session.handle(.committed))?.position == .changedSince(time))
        #expect(
            request(session.handle(.page(PullPage(rows: ["a", "b", "c"].map { row($0, time) }))))?.position
                == .others(since: time, than: ["a", "b", "c"]))
        let other = commit(session.handle(.page(PullPage(rows: [row("d", time)]))))
        #expect(other?.rows == [0] && other?.cursor == time)
        // One has moved away, and they come in another order: d is not on the page.
        #expect(request(session.handle(.committed)) == PullRequest(position: .changedSince(time), skip: 2, top: 4))
        let page = PullPage(rows: [row("c", time), row("a", later, version: "2")])
        #expect(commit(session.handle(.page(page)))?.rows == [1])
        #expect(
            request(session.handle(.committed)) == PullRequest(position: .changedSince(time), skip: 0, top: 4),
            "not from the later time on")
    }

    @Test("a later row that the question for others shows is left to the pages")
    func laterOther() {
        let (time, later) = ("2024-01-01T00:00:00Z", "2024-01-01T00:00:01Z")
        var session = IncrementalPullSession(cursor: nil, pageSize: 4, commitLag: 0)
        _ = session.handle(.began)
        _ = session.handle(.page(PullPage(rows: [row("a", time)])))
        _ = session.handle(.committed)
        #expect(
            request(session.handle(.page(PullPage(rows: [row("a", time)]))))?.position
                == .others(since: time, than: ["a"]))
        #expect(
            request(session.handle(.page(PullPage(rows: [row("b", later)]))))
                == PullRequest(position: .changedSince(time), skip: 1, top: 4))
    }

    @Test(
        "rows without a time have a pass of their own on every pull")
    func untimed() {
        func session(_ cursor: CursorPosition?) -> IncrementalPullSession {
            IncrementalPullSession(cursor: cursor, pageSize: 2, commitLag: 0)
        }
        func end(_ session: inout IncrementalPullSession) -> PullRequest? {
            request(session.handle(.page(PullPage(rows: []))))
        }
        var first = session(nil)
        _ = first.handle(.began)
        _ = first.handle(.page(PullPage(rows: [row("z", nil), row("a", "2024-01-01T00:00:00Z")])))
        _ = first.handle(.committed)
        _ = first.handle(.page(PullPage(rows: [row("a", "2024-01-01T00:00:00Z")])))
        #expect(end(&first)?.position == .withoutTime(behindID: nil))
        let known = PullPage(rows: [row("y", nil), row("z", nil)])
        guard case .commit(let rows, let cursor) = first.handle(.page(known)) else {
            Issue.record("nothing is stored")
            return
        }
        #expect(
            rows == [0]
                && cursor == CursorPosition(updatedAt: "2024-01-01T00:00:00Z", hasUntimed: true))
        // Before a page after an id the order by id is asked for.
        #expect(request(first.handle(.committed)) == PullRequest(position: .withoutTimeUpToID("z"), skip: 0, top: 2))
        let backwards = PullPage(rows: [row("z", nil), row("y", nil)])
        #expect(request(first.handle(.page(backwards)))?.position == .withoutTime(behindID: "z"))
        // A server that does not look at the condition on the id is read by `$skip`.
        var effect = first.handle(.page(known))
        #expect(request(effect) == PullRequest(position: .withoutTime(behindID: nil), skip: 0, top: 2))
        effect = first.handle(.page(known))
        #expect(request(effect) == PullRequest(position: .withoutTime(behindID: nil), skip: 2, top: 2))
        for _ in 0..<8 where !isFinished(effect) { effect = first.handle(.page(known)) }
        guard case .finish(let error?) = effect else {
            Issue.record("a server that ignores the filter and `$skip` ends no pull")
            return
        }
        #expect(error.code == .brokenProtocol)
        for hasUntimed in [false, true] {
            var later = session(CursorPosition(updatedAt: "2024-01-01T00:00:00Z", hasUntimed: hasUntimed))
            _ = later.handle(.began)
            #expect(end(&later)?.position == .withoutTime(behindID: nil))
        }
        var empty = session(nil)
        _ = empty.handle(.began)
        #expect(isFinished(empty.handle(.page(PullPage(rows: [])))), "all rows were asked for: there are none")
    }

    @Test("a slow pull does not take the cursor past rows that are committed while it runs")
    func slowPull() {
        var session = IncrementalPullSession(cursor: nil, pageSize: 1, commitLag: 30 * Timestamp.ticksPerSecond)
        _ = session.handle(.began)
        let first = PullPage(
            rows: [row("a", "2024-01-01T00:00:55.000Z")], serverDate: Timestamp("2024-01-01T00:01:00Z"))
        #expect(commit(session.handle(.page(first)))?.cursor == "2024-01-01T00:00:24.000Z")
        _ = session.handle(.committed)
        // A row of 00:00:40 may be committed until 00:01:10, and is after what this page was asked for.
        let second = PullPage(
            rows: first.rows + [row("b", "2024-01-01T00:01:50.000Z")], serverDate: Timestamp("2024-01-01T00:02:00Z"))
        #expect(commit(session.handle(.page(second)))?.cursor == "2024-01-01T00:00:24.000Z")
    }

    @Test("a row that comes again with another version is taken again")
    func newVersion() {
        var session = IncrementalPullSession(cursor: nil, pageSize: 5, commitLag: 0)
        _ = session.handle(.began)
        _ = session.handle(.page(PullPage(rows: [row("a", "2024-01-01T00:00:00Z"), row("b", "2024-01-01T00:00:00Z")])))
        _ = session.handle(.committed)
        let again = PullPage(rows: [row("a", "2024-01-01T00:00:00Z"), row("b", "2024-01-01T00:00:00Z", version: "2")])
        #expect(commit(session.handle(.page(again)))?.rows == [1])
    }

    @Test("the saved cursor stays behind the clock that stamps the rows by the lag; the pull itself goes on")
    func lag() {
        let lag = 30 * Timestamp.ticksPerSecond
        func at(_ time: String) -> Timestamp? { Timestamp("2024-01-01T\(time)Z") }
        var session = IncrementalPullSession(cursor: nil, pageSize: 5, commitLag: lag)
        _ = session.handle(.began)
        // `Date` may be ahead of that clock, so it is measured by the newest row.
        let page = PullPage(
            rows: [row("a", "2024-01-01T00:00:59.000Z")], serverDate: at("00:01:00"), askedDate: at("10:00:00"),
            localDate: at("10:00:00"))
        guard case .commit(_, let saved?) = session.handle(.page(page)) else {
            Issue.record("nothing is stored")
            return
        }
        #expect(saved.updatedAt == "2024-01-01T00:00:28.000Z")
        #expect(
            request(session.handle(.committed))?.position == .changedSince("2024-01-01T00:00:59.000Z"))
        // Later both other clocks have gone on, and so has that one.
        for (seconds, cursor) in [("20", "2024-01-01T00:00:48.000Z"), ("40", "2024-01-01T00:00:59.000Z")] {
            var next = IncrementalPullSession(cursor: saved, pageSize: 5, commitLag: lag)
            _ = next.handle(.began)
            let later = PullPage(
                rows: page.rows, serverDate: at("00:01:\(seconds)"), askedDate: at("10:00:\(seconds)"),
                localDate: at("10:00:\(seconds)"))
            #expect(commit(next.handle(.page(later)))?.cursor == cursor)
        }
    }

    @Test("a cursor that a server without a clock cannot move stays what it was, to the last digit")
    func exactStart() {
        let start = CursorPosition(updatedAt: "2024-01-01T00:00:50.1234567Z")
        var session = IncrementalPullSession(cursor: start, pageSize: 5, commitLag: 30 * Timestamp.ticksPerSecond)
        _ = session.handle(.began)
        let page = PullPage(rows: [row("a", "2024-01-01T00:00:55.000Z")])
        #expect(commit(session.handle(.page(page)))?.cursor == start.updatedAt)
    }

    @Test("without a clock, what a page took to come is no part of the lag, and one page with a clock proves nothing")
    func slowPages() {
        func at(_ time: String) -> Timestamp? { Timestamp("2024-01-01T00:\(time)Z") }
        var slow = IncrementalPullSession(cursor: nil, pageSize: 1, commitLag: 30 * Timestamp.ticksPerSecond)
        _ = slow.handle(.began)
        // Made at 10:00 and 40 s on its way: meanwhile a row of 9:59.5 is committed.
        let first = PullPage(
            rows: [row("a", "2024-01-01T00:09:59.900Z")], askedDate: at("10:00"), localDate: at("10:40"))
        _ = slow.handle(.page(first))
        _ = slow.handle(.committed)
        let second = PullPage(
            rows: first.rows + [row("b", "2024-01-01T00:10:39.900Z")], askedDate: at("10:40"),
            localDate: at("10:40.100"))
        #expect(commit(slow.handle(.page(second)))?.cursor == "2024-01-01T00:09:29.800Z")

        var mixed = IncrementalPullSession(cursor: nil, pageSize: 1, commitLag: 30 * Timestamp.ticksPerSecond)
        _ = mixed.handle(.began)
        let blind = PullPage(rows: [row("a", "2024-01-01T00:09:35Z")], askedDate: at("10:00"), localDate: at("10:00"))
        _ = mixed.handle(.page(blind))
        _ = mixed.handle(.committed)
        // A row of 9:34.9 was committed after the page before; 9:35.5 is old enough by this one's clock.
        let told = PullPage(
            rows: blind.rows + [row("b", "2024-01-01T00:09:35.500Z")], serverDate: at("10:06"), askedDate: at("10:06"),
            localDate: at("10:06"))
        #expect(commit(mixed.handle(.page(told)))?.cursor == "2024-01-01T00:09:05.000Z")
    }

    @Test("an error ends the session, and so does an event out of turn")
    func ends() {
        var session = IncrementalPullSession(cursor: nil, pageSize: 5, commitLag: 0)
        _ = session.handle(.began)
        guard case .finish(let error?) = session.handle(.failed(SluiceError(.network, "gone"))) else {
            Issue.record("the session went on")
            return
        }
        #expect(error.code == .network)
        var fresh = FullPullSession(query: TableQuery("t"), pageSize: 5)
        guard case .finish(.some) = fresh.handle(.committed) else {
            Issue.record("the session took what was out of turn")
            return
        }
    }

    @Test("a full pull follows the id, and stops at an empty page")
    func full() {
        var session = FullPullSession(query: TableQuery("t"), pageSize: 2)
        #expect(request(session.handle(.began))?.position == .start)
        #expect(commit(session.handle(.page(PullPage(rows: [row("a", nil), row("b", nil)]))))?.rows == [0, 1])
        #expect(request(session.handle(.committed)) == PullRequest(position: .upToID("b"), skip: 0, top: 2))
        let next = request(session.handle(.page(PullPage(rows: [row("b", nil), row("a", nil)]))))
        #expect(next == PullRequest(position: .behindID("b"), skip: 0, top: 2))
        #expect(isFinished(session.handle(.page(PullPage(rows: [])))))
    }

    @Test(
        "a server that repeats the same few rows has those alone, unless it links to more", arguments: [false, true],
        [nil, 1000])
    func repeatsRows(linksOn: Bool, top: Int?) {
        var session = FullPullSession(query: TableQuery("t", top: top), pageSize: 50, sorts: false)
        _ = session.handle(.began)
        let page = PullPage(rows: ["a", "b", "c", "d"].map { row($0, nil) }, linksOn: linksOn)
        var effect = session.handle(.page(page))
        for _ in 0..<20 where !isFinished(effect) {
            if case .commit = effect {
                effect = session.handle(.committed)
            } else {
                effect = session.handle(.page(page))
            }
        }
        guard case .finish(let error) = effect else {
            Issue.record("the pull has no end")
            return
        }
        #expect(error?.code == (linksOn ? .brokenProtocol : nil))
    }
}
