import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Schedule hooks: when a scheduler runs")
struct ScheduleHookTests {
    /// A schedule hook made of a closure.
    private struct Say: ScheduleHook {
        let hookName = "say"
        let body: @Sendable (ScheduleQuestion) async throws -> ScheduleDecision?

        func onSchedule(_ question: ScheduleQuestion) async throws -> ScheduleDecision? { try await body(question) }
    }

    private struct Setup {
        let time = VirtualTime()
        let server = ModelServer()
        let context: SyncContext
        let scheduler: SyncScheduler
        let asked = Shared<[ScheduleQuestion]>([])

        init(
            hooks: [any SyncHook] = [], _ body: @escaping @Sendable (ScheduleQuestion) async throws -> ScheduleDecision?
        ) async throws {
            let environment = time.environment()
            var options = SyncOptions(commitLag: .zero, environment: environment)
            options.hooks = hooks
            options.scheduleHooks = [
                Say { [asked] question in
                    asked.change { $0.append(question) }
                    return try await body(question)
                }
            ]
            let client = SluiceClient(
                endpoint: try Endpoint("http://model.test"), transport: server,
                options: ClientOptions(retry: .never, environment: environment))
            context = try await SyncContext(client: client, store: MemoryStore(), options: options)
            scheduler = SyncScheduler(
                context,
                SyncSchedule(
                    pulls: [.init(TableQuery("todos"), named: "all"), .init(TableQuery("notes"), named: "all")],
                    interval: .seconds(100), spread: .zero))
        }

        func running(_ body: (inout SyncEvents<SyncScheduler.Run>.AsyncIterator) async throws -> Void) async throws {
            var runs = scheduler.runs.makeAsyncIterator()
            let task = Task { [scheduler] in try await scheduler.run() }
            defer { task.cancel() }
            try await body(&runs)
            task.cancel()
            try await task.value
        }

        /// Waits until the scheduler sleeps that long.
        func sleeps(_ pause: Duration) async { while time.pauses != [pause] { await Task.yield() } }
    }

    @Test("a hook is asked at the start, at a change, at a time, when asked for, and of the network")
    func reasons() async throws {
        let setup = try await Setup { _ in nil }
        try await setup.running { runs async throws in
            #expect(await runs.next()?.pulls.count == 2)
            try await setup.context.table("todos").insert(["id": "a"])
            await setup.sleeps(.seconds(1))
            setup.time.pass(.seconds(1))
            #expect(await runs.next()?.push?.applied == 1)
            setup.scheduler.syncNow()
            _ = await runs.next()
            setup.scheduler.networkAvailable()
            _ = await runs.next()
        }
        let reasons = setup.asked.value.map(\.reason)
        #expect(reasons.first == .start && Set(reasons) == Set(ScheduleQuestion.Reason.allCases))
        let change = try #require(setup.asked.value.first { $0.reason == .change })
        #expect(change.pending == 1 && change.failures == 0 && !change.pulls)
        #expect(change.now.duration(to: change.next) == .seconds(1))
    }

    @Test("a hook can have it wait, and is asked again then")
    func waits() async throws {
        let setup = try await Setup { question in
            question.reason == .start ? .wait(until: question.now.advanced(by: .seconds(50))) : nil
        }
        try await setup.running { runs async throws in
            await setup.sleeps(.seconds(50))
            let until = setup.time.now.advanced(by: .seconds(50))
            #expect(try await setup.context.status().phase == .waiting(until: until))
            setup.time.pass(.seconds(50))
            #expect(await runs.next()?.pulls.count == 2)
        }
        #expect(setup.asked.value.map(\.reason) == [.start, .timer])
    }

    @Test("the end of a wait is no time to run before the schedule's")
    func waitEndsEarly() async throws {
        let setup = try await Setup { question in
            question.reason == .change ? .wait(until: question.now.advanced(by: .seconds(10))) : nil
        }
        try await setup.running { runs async throws in
            #expect(await runs.next()?.pulls.count == 2)
            await setup.sleeps(.seconds(110))
            setup.scheduler.networkAvailable()
            _ = await runs.next()
            try await setup.context.table("todos").insert(["id": "a"])
            await setup.sleeps(.seconds(10))
            #expect(setup.server.rows("todos").isEmpty)
            setup.time.pass(.seconds(10))
            #expect(await runs.next()?.push?.applied == 1)
        }
    }

    @Test("a hook can have it push alone, or pull some tables")
    func directs() async throws {
        let setup = try await Setup { question in
            switch question.reason {
            case .start: .push
            case .request: .pull(tables: ["notes"])
            default: nil
            }
        }
        try await setup.running { runs async throws in
            let first = try #require(await runs.next())
            #expect(first.push != nil && first.pulls.isEmpty)
            setup.scheduler.syncNow()
            #expect(await runs.next()?.pulls.count == 1)
            #expect(try await setup.context.status().cursors.count == 0)
            #expect(setup.server.calls.contains("GET /tables/notes"))
            #expect(!setup.server.calls.contains("GET /tables/todos"))
        }
    }

    @Test("who holds all but what was asked for lets a run that was asked for through")
    func holdsAllButRequests() async throws {
        let setup = try await Setup { question in
            question.reason == .request ? nil : .wait(until: question.now.advanced(by: .seconds(60)))
        }
        try await setup.running { runs async throws in
            await setup.sleeps(.seconds(60))
            setup.scheduler.syncNow()
            #expect(await runs.next()?.push != nil)
            await setup.sleeps(.seconds(110))
        }
        #expect(setup.asked.value.filter { $0.reason == .timer }.isEmpty)
    }

    @Test("a requested run pulls though a push was held for long, and a write before it begins holds it no more")
    func requestAfterHeldPush() async throws {
        let setup = try await Setup { question in
            question.reason == .request || question.pending == 0
                ? nil : .wait(until: question.now.advanced(by: .seconds(60)))
        }
        try await setup.running { runs async throws in
            _ = await runs.next()
            await setup.sleeps(.seconds(110))
            try await setup.context.table("todos").insert(["id": "a"])
            await setup.sleeps(.seconds(60))
            setup.time.pass(.seconds(30))
            setup.scheduler.syncNow()
            setup.scheduler.changed()
            let run = try #require(await runs.next())
            #expect(run.push?.applied == 1 && run.pulls.count == 2)
        }
        var machine = ScheduleMachine(SyncSchedule(spread: .zero), now: setup.time.steady, random: 0)
        _ = machine.handle(.requested, now: setup.time.steady, random: 0)
        #expect(machine.reason(for: .changed) == .request)
        #expect(machine.hold(until: setup.time.steady, now: setup.time.steady) == .wait(.seconds(1)))
        #expect(machine.reason(for: .changed) == .change)
    }

    @Test("one that always wants to push does so at the schedule's times")
    func alwaysPushes() async throws {
        let setup = try await Setup { _ in .push }
        try await setup.running { runs async throws in
            _ = await runs.next()
            await setup.sleeps(.seconds(110))
            setup.time.pass(.seconds(110))
            #expect(await runs.next()?.pulls.isEmpty == true)
            await setup.sleeps(.seconds(110))
        }
        #expect(setup.asked.value.count == 2)
    }

    @Test("one that throws, or wants a time in the past, leaves it to the schedule")
    func fails() async throws {
        for past in [true, false] {
            let setup = try await Setup { question in
                if past { return .wait(until: question.now.advanced(by: .seconds(-5))) }
                throw HookMishap()
            }
            try await setup.running { runs async throws in
                #expect(await runs.next()?.pulls.count == 2)
                await setup.sleeps(.seconds(110))
            }
        }
    }

    @Test("what the server asked for is kept, whatever a hook wants")
    func notBefore() async throws {
        let now = Timestamp(ticks: 17_000_000_000_000_000)
        var machine = ScheduleMachine(SyncSchedule(spread: .zero), now: now, random: 0)
        let pause = ServerPace.Pause(length: .seconds(60), since: now)
        _ = machine.handle(.finished(.init(failed: true, asked: pause)), now: now, random: 0)
        #expect(machine.direct(pulls: true, now: now) == nil)
        #expect(machine.direct(pulls: true, now: now.advanced(by: .seconds(61))) == .run(pulls: true))
        #expect(machine.hold(until: now, now: now) == .wait(.seconds(1)))
    }

    @Test("an operation that a hook has wait is pushed when its time comes")
    func postponed() async throws {
        let calls = Shared(0)
        let hook = TestHook(push: { _, _ in
            calls.change { $0 += 1 }
            return calls.value == 1 ? .defer(.seconds(20), reason: "later") : .send
        })
        let setup = try await Setup(hooks: [hook]) { _ in nil }
        try await setup.context.table("todos").insert(["id": "a"])
        try await setup.running { runs async throws in
            let first = try #require(await runs.next())
            #expect(first.push?.postponed == 1 && first.error == nil)
            #expect(first.next == setup.time.now.advanced(by: .seconds(20)))
            await setup.sleeps(.seconds(20))
            setup.time.pass(.seconds(20))
            #expect(await runs.next()?.push?.applied == 1)
        }
    }
}
