import HTTPTypes
import SluiceCore
import Synchronization
import Testing

@testable import SluiceBackend

@Suite struct ExpiryTests {
    /// A clock that a test moves.
    private final class Clock: Sendable {
        private let time = Mutex(BackendFixture.now)
        func now() -> Timestamp { time.withLock { $0 } }
        func advance(days: Int64) {
            time.withLock { $0 = Timestamp(ticks: $0.ticks + days * 86_400 * Timestamp.ticksPerSecond) }
        }
    }

    private func fixture(_ rules: BackendConfiguration.Table, _ clock: Clock) async throws -> BackendFixture {
        try await BackendFixture(tables: [rules], now: { clock.now() })
    }

    @Test("a record is gone when its time is over, and the sweep makes a tombstone that pulls hear of")
    func records() async throws {
        let clock = Clock()
        let fixture = try await fixture(.init("t", recordsExpire: .seconds(30 * 86_400)), clock)
        _ = await fixture.send(.post, "/tables/t", #"{"id":"old"}"#)
        clock.advance(days: 20)
        _ = await fixture.send(.post, "/tables/t", #"{"id":"new"}"#)
        // A change does not make it younger.
        #expect(await fixture.send(.patch, "/tables/t/old", #"{"n":1}"#).status == 200)
        clock.advance(days: 9)
        #expect(await fixture.send(.get, "/tables/t").ids == ["new", "old"])
        clock.advance(days: 1)
        #expect(await fixture.send(.get, "/tables/t?$inlinecount=allpages").ids == ["new"])
        #expect(await fixture.send(.get, "/tables/t/old").status == 404)
        #expect(await fixture.send(.patch, "/tables/t/old", "{}").status == 404)

        #expect(try await fixture.backend.expire() == 1)
        #expect(try await fixture.backend.expire() == 0)
        let pulled = await fixture.send(.get, "/tables/t?$orderby=updatedAt&__includeDeleted=true")
        #expect(pulled.ids == ["new", "old"])
        #expect(pulled.json[1]?["deleted"] == true)
        clock.advance(days: 29)
        #expect(try await fixture.backend.expire() == 1)
        #expect(await fixture.send(.get, "/tables/t?__includeDeleted=true").json[1]?["deleted"] == true)
        clock.advance(days: 1)
        #expect(try await fixture.backend.expire() == 1)
        #expect(await fixture.send(.get, "/tables/t?__includeDeleted=true").ids == ["new"])
    }

    @Test("where no tombstones are kept, what has expired is removed")
    func withoutTombstones() async throws {
        let clock = Clock()
        let fixture = try await fixture(.init("t", softDelete: false, recordsExpire: .seconds(86_400)), clock)
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a"}"#)
        clock.advance(days: 1)
        #expect(try await fixture.backend.expire() == 1)
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"a"}"#).status == 201)
    }

    @Test("tombstones may have a time of their own, which leaves records alone")
    func tombstones() async throws {
        let clock = Clock()
        let fixture = try await fixture(.init("t", tombstonesExpire: .seconds(7 * 86_400)), clock)
        for id in ["a", "b"] { _ = await fixture.send(.post, "/tables/t", #"{"id":"\#(id)"}"#) }
        clock.advance(days: 100)
        _ = await fixture.send(.delete, "/tables/t/a")
        clock.advance(days: 6)
        #expect(try await fixture.backend.expire() == 0)
        clock.advance(days: 1)
        #expect(try await fixture.backend.expire() == 1)
        #expect(await fixture.send(.get, "/tables/t?__includeDeleted=true").ids == ["b"])
        #expect(await fixture.send(.post, "/tables/t/a").status == 404)
    }

    @Test("a sweep takes all there is, in short transactions")
    func many() async throws {
        let clock = Clock()
        let seed = (0..<1201).map { JSON(members: [("id", JSON("r\($0)"))]) }
        let fixture = try await fixture(
            .init("t", seed: .records(seed), softDelete: false, recordsExpire: .seconds(86_400)), clock)
        clock.advance(days: 2)
        #expect(try await fixture.backend.expire() == 1201)
        #expect(await fixture.send(.get, "/tables/t").ids == [])
    }

    @Test("opening a backend sweeps, and serving one does so at intervals")
    func sweeps() async throws {
        let clock = Clock()
        let rules = BackendConfiguration.Table("t", seed: .records([["id": "a"]]), recordsExpire: .seconds(1))
        // The seed is an hour old when it is planted.
        let fixture = try await fixture(rules, clock)
        #expect(await fixture.send(.get, "/tables/t?__includeDeleted=true").json[0]?["deleted"] == true)
        #expect(fixture.backend.expiryInterval == .seconds(1))
        _ = await fixture.send(.post, "/tables/t", #"{"id":"b"}"#)
        clock.advance(days: 1)
        let sweeping = Task { await fixture.backend.sweep { error in Issue.record(error) } }
        for _ in 0..<200 {
            try await Task.sleep(for: .milliseconds(50))
            let list = await fixture.send(.get, "/tables/t?__includeDeleted=true")
            if list.json[0]?["id"] == "b", list.json[0]?["deleted"] == true { break }
        }
        #expect(await fixture.send(.get, "/tables/t?__includeDeleted=true").ids == ["b"])
        sweeping.cancel()
        await sweeping.value
        #expect(try await BackendFixture.empty().backend.expiryInterval == nil)
    }
}
