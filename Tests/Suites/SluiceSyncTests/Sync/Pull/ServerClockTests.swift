import SluiceCore
import SluiceTestSupport
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("The server's clock: set back, set forth, or ahead of the one that stamps the rows")
struct ServerClockTests {
    /// A device and a server whose clocks go on together, until one of them is set.
    private struct World {
        let server: ModelServer
        let device: Device
        private let clock: Shared<Int64>

        init(pageSize: Int = 50, reconciles: Bool = true, ahead: Duration = .zero) async throws {
            let clock = Shared<Int64>(17_000_000_000_000_000)
            self.clock = clock
            server = ModelServer(pageSize: pageSize)
            var traits = ModelServer.Traits()
            traits.sortsTiesByID = false
            server.set(traits)
            server.setDateAhead(by: ahead)
            device = try await Device(
                .memory, server: server, commitLag: .seconds(30),
                adjust: { $0.environment.now = { Timestamp(ticks: clock.change { $0 }) } })
        }

        func pass(_ duration: Duration) {
            server.setClock(by: duration)
            setDevice(by: duration)
        }

        func setDevice(by duration: Duration) {
            clock.change { $0 += duration.components.seconds * Timestamp.ticksPerSecond }
        }

        func write(_ ids: String...) { server.seed("todos", ids.map { ["id": JSON($0), "n": 1] }) }

        func ids() async throws -> [String] {
            try await device.todos.records().compactMap { $0["id"]?.string }.sorted()
        }

        @discardableResult
        func pull() async throws -> PullResult { try await device.todos.pull(named: "all") }
    }

    @Test("rows that are written in the repeated time come, and the pull reconciles before it is done")
    func setBack() async throws {
        let world = try await World()
        world.write("a", "b")
        try await world.pull()
        for _ in 0..<20 {
            world.pass(.seconds(60))
            world.write("a")
            #expect(try await world.pull().reasons.isEmpty)
        }
        world.server.setClock(by: .seconds(-600))
        world.write("repeated")
        world.pass(.seconds(120))
        world.write("later")
        world.pass(.seconds(100))
        let result = try await world.pull()
        #expect(try await world.ids() == ["a", "b", "later", "repeated"])
        #expect(result.reasons == [.clockWasSet] && result.reconcile != nil)
        // From then on the pulls are as before, though rows bear times to come.
        world.write("more")
        world.pass(.seconds(40))
        let next = try await world.pull()
        #expect(next.reasons.isEmpty && next.reconcile == nil)
        #expect(try await world.ids() == ["a", "b", "later", "more", "repeated"])
    }

    @Test(
        "a step shows by the device's clock, where the server's is past the saved time again",
        arguments: [-600, -45, 45, 7200])
    func step(_ seconds: Int) async throws {
        let world = try await World()
        world.write("a")
        try await world.pull()
        world.pass(.seconds(3600))
        world.write("b")
        try await world.pull()
        world.server.setClock(by: .seconds(seconds))
        world.write("repeated")
        world.pass(.seconds(7200))
        let result = try await world.pull()
        #expect(result.reasons == [.clockWasSet] && result.reconcile != nil)
        #expect(try await world.ids() == ["a", "b", "repeated"])
        world.pass(.seconds(7200))
        #expect(try await world.pull().reasons.isEmpty)
    }

    @Test("the date alone shows it, where the device's clock was set back with it")
    func both() async throws {
        let world = try await World()
        world.write("a")
        try await world.pull()
        world.pass(.seconds(60))
        try await world.pull()
        world.pass(.seconds(-1200))
        world.write("repeated")
        #expect(try await world.pull().reasons == [.clockWasSet])
        #expect(try await world.ids() == ["a", "repeated"])
    }

    @Test("a row that no place to go back to reaches is found by the reconcile")
    func reconciled() async throws {
        let world = try await World()
        world.write("a")
        try await world.pull()
        world.pass(.seconds(60))
        try await world.pull()
        world.server.setClock(by: .seconds(-600))
        world.write("old")
        world.server.restamp("todos", ["old"], at: Timestamp("2020-01-01T00:00:00Z")!)
        #expect(try await world.pull().reconcile?.stored == 1)
        #expect(try await world.ids() == ["a", "old"])
    }

    @Test("a clock that is set in the middle of a pull sends the next one back", arguments: [-600, 600])
    func midPull(_ seconds: Int) async throws {
        let world = try await World(pageSize: 1)
        world.write("a", "b", "c")
        let asked = Shared(0)
        world.server.onRequest { [world] _ in
            guard
                asked.change({
                    $0 += 1
                    return $0 == 3
                })
            else { return .none }
            world.server.setClock(by: .seconds(seconds))
            world.write("repeated")
            world.pass(.seconds(240))
            return .none
        }
        try await world.pull()
        world.server.onRequest(nil)
        world.pass(.seconds(60))
        let result = try await world.pull()
        #expect(result.reasons == [.clockWasSet] && result.reconcile != nil)
        #expect(try await world.ids() == ["a", "b", "c", "repeated"])
        world.pass(.seconds(60))
        #expect(try await world.pull().reasons.isEmpty)
    }

    @Test("a pull that breaks off after a step leaves the next one as doubtful")
    func brokenOff() async throws {
        let world = try await World()
        world.write("a")
        try await world.pull()
        world.pass(.seconds(60))
        try await world.pull()
        world.server.setClock(by: .seconds(-600))
        world.write("repeated")
        let asked = Shared(0)
        world.server.onRequest { _ in
            asked.change {
                $0 += 1
                return $0 == 2 ? .loseRequest : .none
            }
        }
        await #expect(throws: SluiceError.self) { try await world.pull() }
        world.server.onRequest(nil)
        world.pass(.seconds(900))
        #expect(try await world.pull().reconcile != nil)
        #expect(try await world.ids() == ["a", "repeated"])
    }

    @Test("ordinary pulls find nothing doubtful: minutes, days, slow answers, a device that slept")
    func ordinary() async throws {
        let world = try await World()
        world.write("a")
        for pause in [1, 5, 31, 600, 86_400, 7 * 86_400, 3] {
            try await world.pull()
            world.pass(.seconds(pause))
            if pause.isMultiple(of: 2) { world.write("b") }
            world.server.onRequest { [world] _ in
                world.pass(.seconds(50))
                return .none
            }
            #expect(try await world.pull().reasons.isEmpty, "\(pause)")
            world.server.onRequest(nil)
            #expect(try await world.pull().reasons.isEmpty, "\(pause)")
        }
    }

    @Test("a web server's clock that is ahead of its database's hides no late commit", arguments: [0, 300, 86_400])
    func ahead(_ seconds: Int) async throws {
        let world = try await World(ahead: .seconds(seconds))
        world.write("a")
        try await world.pull()
        for round in 0..<5 {
            world.pass(.seconds(20))
            world.write("row\(round)")
            let begun = world.server.rows("todos")["row\(round)"]?["updatedAt"]?.string.flatMap { Timestamp($0) }
            world.pass(.seconds(2))
            try await world.pull()
            // Committed now, by a transaction that began 20 s before.
            world.write("late\(round)")
            let time = try #require(begun)
            world.server.restamp(
                "todos", ["late\(round)"], at: Timestamp(ticks: time.ticks - 20 * Timestamp.ticksPerSecond))
            #expect(try await world.pull().reasons.isEmpty)
            #expect(try await world.ids().contains("late\(round)"))
        }
    }

    @Test("an idle pull settles: what is older than the lag comes no more")
    func settles() async throws {
        let world = try await World()
        world.server.seed("todos", (0..<20).map { ["id": JSON("r\($0)"), "n": 1] })
        world.pass(.seconds(3600))
        try await world.pull()
        world.pass(.seconds(60))
        try await world.pull()
        world.pass(.seconds(60))
        #expect(try await world.pull().stored == 1, "the row of the last time alone comes again")
    }

    @Test("the cursor remembers what it knows of the clock")
    func remembers() {
        let clock = ServerClock(
            row: Timestamp(ticks: 1), date: Timestamp(ticks: 3), asked: Timestamp(ticks: 4),
            arrived: Timestamp(ticks: 5))
        #expect(ServerClock(json: clock.json) == clock)
        let owner = Cursor.Owner(endpoint: "e", user: "u", wire: "w", table: "t", name: "n")
        let cursor = Cursor(owner: owner, query: "", position: CursorPosition(updatedAt: "2024-01-01", clock: clock))
        #expect(Cursor(record: cursor.record) == cursor)
    }
}
