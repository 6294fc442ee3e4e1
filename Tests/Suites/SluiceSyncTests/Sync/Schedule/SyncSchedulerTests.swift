import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("SyncScheduler: pushes and pulls by itself")
struct SyncSchedulerTests {
    /// A device in virtual time, whose server can be told how to answer.
    private struct Setup {
        let time = VirtualTime()
        let server = ModelServer()
        let context: SyncContext
        let scheduler: SyncScheduler
        let answer = Answer()

        final class Answer: Sendable {
            let fault = Mutex<ModelServer.Fault>(.none)
            let count = Mutex(0)
        }

        init(
            _ kind: StoreKind, store: (any LocalStore)? = nil, interval: Duration = .seconds(100),
            filters: [any RequestFilter] = [], tables: [String] = ["todos"]
        ) async throws {
            let environment = time.environment()
            var options = ClientOptions(retry: .never, environment: environment)
            options.timer = { _ in try await Task.sleep(for: .seconds(86_400)) }
            server.onRequest { [answer] _ in
                answer.count.withLock { $0 += 1 }
                return answer.fault.withLock { $0 }
            }
            let client = SluiceClient(
                endpoint: try Endpoint("http://model.test"), transport: server, filters: filters, options: options)
            let made: any LocalStore = if let store { store } else { try await kind.make() }
            context = try await SyncContext(
                client: client, store: made, options: SyncOptions(commitLag: .zero, environment: environment))
            scheduler = SyncScheduler(
                context,
                SyncSchedule(
                    pulls: tables.map { .init(TableQuery($0), named: "all") }, interval: interval, spread: .zero))
        }

        var requests: Int { answer.count.withLock { $0 } }
        func answers(_ fault: ModelServer.Fault) { answer.fault.withLock { $0 = fault } }
        func isLive(_ id: String) -> Bool { server.rows("todos")[RecordID(id)].map { $0["deleted"] != true } ?? false }

        /// Runs the schedule for as long as `body` runs.
        func running(_ body: (inout SyncEvents<SyncScheduler.Run>.AsyncIterator) async throws -> Void) async throws {
            var runs = scheduler.runs.makeAsyncIterator()
            let task = Task { [scheduler] in try await scheduler.run() }
            do {
                try await body(&runs)
            } catch {
                task.cancel()
                throw error
            }
            task.cancel()
            try await task.value
        }
    }

    @Test("it begins with a run, then follows the interval and local writes", arguments: StoreKind.allCases)
    func follows(_ kind: StoreKind) async throws {
        let setup = try await Setup(kind)
        let todos = try setup.context.table("todos")
        try await todos.insert(["id": "1"])
        setup.server.seed("todos", [["id": "9"]])
        try await setup.running { runs async throws in
            let first = try #require(await runs.next())
            #expect(first.error == nil && first.push?.applied == 1 && first.pulls.first?.stored ?? 0 >= 1)
            #expect(try await todos.lookup(id: "9") != nil && setup.isLive("1"))
            #expect(first.next == setup.time.now.advanced(by: .seconds(110)))

            try await todos.insert(["id": "2"])
            while setup.time.pauses != [.seconds(1)] { await Task.yield() }
            #expect(!setup.isLive("2"))
            setup.time.pass(.seconds(1))
            let second = try #require(await runs.next())
            #expect(second.push?.applied == 1 && second.pulls.isEmpty && setup.isLive("2"))

            #expect(await setup.time.pause() == .seconds(109))
            setup.server.seed("todos", [["id": "10"]])
            setup.time.pass(.seconds(109))
            #expect(await runs.next()?.pulls.count == 1)
            #expect(try await todos.lookup(id: "10") != nil)
        }
    }

    @Test("a server's Retry-After is kept, also by the next process", arguments: StoreKind.allCases)
    func retryAfter(_ kind: StoreKind) async throws {
        let setup = try await Setup(kind)
        setup.answers(.answer(.json(503, "", ["Retry-After": "600"])))
        try await setup.running { runs async throws in
            let first = try #require(await runs.next())
            #expect(first.error?.code == .serverFailure)
            #expect(await setup.time.pause() == .seconds(600))
            let until = setup.time.now.advanced(by: .seconds(600))
            #expect(try await setup.context.status().phase == .waiting(until: until))
            setup.scheduler.syncNow()
            setup.time.pass(.seconds(599))
        }
        #expect(try await setup.context.status().phase == .idle)
        let requests = setup.requests
        let next = try await Setup(kind, store: setup.context.store)
        next.time.set(setup.time.now)
        try await next.running { runs async throws in
            #expect(await next.time.pause() == .seconds(1))
            #expect(next.requests == 0 && setup.requests == requests)
            next.time.pass(.seconds(1))
            #expect(await runs.next()?.error == nil)
        }
    }

    @Test("a pause asked for by refused writes is kept, though the server answers reads in the same run")
    func refusedWrites() async throws {
        let setup = try await Setup(.memory)
        let writes = Mutex(0)
        setup.server.onRequest { request in
            guard request.head.method == .post else { return .none }
            writes.withLock { $0 += 1 }
            return .answer(.json(503, "", ["Retry-After": "60"]))
        }
        let todos = try setup.context.table("todos")
        try await todos.insert(["id": "1"])
        try await setup.running { runs async throws in
            #expect(await runs.next()?.pulls.count == 1)
            #expect(await setup.time.pause() == .seconds(60))
            try await todos.insert(["id": "2"])
            setup.scheduler.syncNow()
            setup.time.pass(.seconds(59))
            #expect(writes.withLock { $0 } == 1)
            setup.time.pass(.seconds(1))
            _ = await runs.next()
            #expect(writes.withLock { $0 } == 3)
        }
    }

    @Test(
        "a table for whose pull the server asks for a pause is the last of the next run, so that the others are pulled")
    func refusedTable() async throws {
        let setup = try await Setup(.memory, tables: ["bad", "good", "todos"])
        setup.server.onRequest { request in
            request.context.table == "bad" ? .answer(.json(503, "", ["Retry-After": "60"])) : .none
        }
        try await setup.running { runs async throws in
            #expect(await runs.next()?.pulls.count == 0)
            for _ in 0..<2 {
                #expect(await setup.time.pause() == .seconds(60))
                setup.time.pass(.seconds(60))
                #expect(await runs.next()?.pulls.count == 2)
            }
        }
    }

    @Test("a clock that is set back makes no pause longer, in this process or the next", arguments: StoreKind.allCases)
    func setBack(_ kind: StoreKind) async throws {
        let setup = try await Setup(kind)
        setup.answers(.answer(.json(503, "", ["Retry-After": "600"])))
        let back = setup.time.now.advanced(by: .seconds(-86_400))
        try await setup.running { runs async throws in
            _ = await runs.next()
            setup.time.pass(.seconds(200))
            setup.time.set(back)
            setup.scheduler.networkAvailable()
            let sleeps = setup.time.sleeps
            while setup.time.sleeps == sleeps { await Task.yield() }
            #expect(await setup.time.pause() == .seconds(400))
            #expect(try await setup.context.status().phase == .waiting(until: back.advanced(by: .seconds(400))))
        }
        let next = try await Setup(kind, store: setup.context.store)
        next.time.set(back)
        try await next.running { runs async throws in
            #expect(await next.time.pause() == .seconds(600))
            next.time.pass(.seconds(600))
            #expect(await runs.next()?.error == nil)
        }
    }

    @Test("a Retry-After with a date is kept too")
    func retryAfterDate() async throws {
        let setup = try await Setup(.memory)
        let date = HTTPDate.text(setup.time.now.advanced(by: .seconds(300)))
        setup.answers(.answer(.json(429, "", ["Retry-After": date])))
        try await setup.running { runs async throws in
            _ = await runs.next()
            let pause = await setup.time.pause()
            #expect(pause > .seconds(298) && pause <= .seconds(300))
        }
    }

    @Test("after a failure it waits longer each time, and the network's return ends the wait")
    func failures() async throws {
        let setup = try await Setup(.memory)
        setup.answers(.loseRequest)
        try await setup.running { runs async throws in
            for pause in [1, 2, 4, 8, 16] as [Int64] {
                #expect(await runs.next()?.error?.code == .network)
                #expect(await setup.time.pause() == .seconds(pause))
                #expect(try await setup.context.status().phase == .offline)
                if pause < 16 { setup.time.pass(.seconds(pause)) }
            }
            setup.answers(.none)
            setup.scheduler.networkAvailable()
            #expect(await runs.next()?.error == nil)
            #expect(try await setup.context.status().phase == .idle)
        }
    }

    @Test("an operation that no push can send holds up no other", arguments: [true, false])
    func oneFails(isFilter: Bool) async throws {
        struct Refused: Error {}
        let filter = Tap { request, next in
            if isFilter, request.context.recordID == "bad" { throw Refused() }
            return try await next(request)
        }
        let setup = try await Setup(.memory, filters: [filter])
        setup.server.onRequest { request in
            !isFilter && request.context.recordID == "bad" ? .answer(.json(503, "")) : .none
        }
        let todos = try setup.context.table("todos")
        try await todos.insert(["id": "bad"])
        try await todos.insert(["id": "good"])
        try await setup.running { runs async throws in
            let first = try #require(await runs.next())
            #expect(first.push?.applied == 1 && first.push?.failures.map(\.recordID) == ["bad"])
            #expect(await setup.time.pause() == .seconds(1))
            setup.time.pass(.seconds(1))
            for pause in [2, 4, 8] as [Int64] {
                // That it fails again, and nothing else is to be sent, says nothing new of the server.
                _ = await runs.next()
                #expect(await setup.time.pause() == .seconds(pause))
                if pause < 8 { setup.time.pass(.seconds(pause)) }
            }
            #expect(try await setup.context.status().phase == .idle)
            try await todos.insert(["id": "another"])
            while setup.time.pauses != [.seconds(1)] { await Task.yield() }
            setup.time.pass(.seconds(1))
            #expect(await runs.next()?.push?.applied == 1)
            #expect(setup.isLive("another"))
        }
    }

    @Test("a write does not send again what has failed in part, and a refused pull does not hold it back")
    func writesPassBy() async throws {
        let tries = Mutex(0)
        let setup = try await Setup(.memory)
        setup.server.onRequest { request in
            guard request.context.recordID == "bad" else { return .none }
            tries.withLock { $0 += 1 }
            return .answer(.json(500, ""))
        }
        let broken = SyncSchedule.Pull(
            TableQuery("todos", parameters: [.init("__includeDeleted", "x")]), named: "broken")
        let scheduler = SyncScheduler(setup.context, SyncSchedule(pulls: [broken], spread: .zero))
        let todos = try setup.context.table("todos")
        try await todos.insert(["id": "bad"])
        try await todos.insert(["id": "good"])
        var runs = scheduler.runs.makeAsyncIterator()
        let task = Task { try await scheduler.run() }
        let first = try #require(await runs.next())
        #expect(first.push?.applied == 1 && first.error?.code == .invalidQuery)
        for _ in 0..<5 {
            // The pause after it is over, and grows.
            setup.time.pass(await setup.time.pause())
            _ = await runs.next()
        }
        #expect(tries.withLock { $0 } == 6)
        for number in 0..<20 {
            _ = await setup.time.pause()
            try await todos.insert(["id": JSON("later \(number)")])
            for _ in 0..<100_000 where setup.time.pauses != [.seconds(1)] { await Task.yield() }
            try #require(setup.time.pauses == [.seconds(1)])
            setup.time.pass(.seconds(1))
            let run = try #require(await runs.next())
            #expect(run.push?.applied == 1 && run.push?.remaining == 1)
        }
        #expect(tries.withLock { $0 } == 6, "it is tried again when its pause is over")
        // Changed, it may be what the server takes.
        _ = await setup.time.pause()
        try await todos.update(["id": "bad", "n": 1])
        for _ in 0..<100_000 where setup.time.pauses != [.seconds(1)] { await Task.yield() }
        setup.time.pass(.seconds(1))
        _ = await runs.next()
        #expect(tries.withLock { $0 } == 7)
        task.cancel()
        try await task.value
    }

    @Test("while nothing happens it sleeps, however often its pauses have ended before")
    func rests() async throws {
        let setup = try await Setup(.memory)
        try await setup.running { runs async throws in
            for _ in 0..<20 {
                #expect(await runs.next()?.error == nil)
                #expect(await setup.time.pause() == .seconds(110))
                setup.time.pass(.seconds(110))
            }
            _ = await runs.next()
            _ = await setup.time.pause()
            let sleeps = setup.time.sleeps
            for _ in 0..<1000 { await Task.yield() }
            #expect(setup.time.sleeps == sleeps && sleeps == 21)
        }
    }

    @Test("many requests for a run while one runs lead to one more, which alone answers them")
    func singleFlight() async throws {
        let gate = Mutex<CheckedContinuation<Void, Never>?>(nil)
        let atOnce = Mutex((now: 0, most: 0))
        let setup = try await Setup(
            .memory,
            filters: [
                Tap { request, next in
                    atOnce.withLock {
                        $0.now += 1
                        $0.most = max($0.most, $0.now)
                    }
                    defer { atOnce.withLock { $0.now -= 1 } }
                    await withCheckedContinuation { continuation in gate.withLock { $0 = continuation } }
                    return try await next(request)
                }
            ])
        let isOpen = Mutex(false)
        let opener = Task {
            while !Task.isCancelled {
                let waiting = gate.withLock { gate -> CheckedContinuation<Void, Never>? in
                    guard isOpen.withLock({ $0 }) else { return nil }
                    defer { gate = nil }
                    return gate
                }
                waiting?.resume()
                await Task.yield()
            }
        }
        try await setup.running { runs async throws in
            while gate.withLock({ $0 == nil }) { await Task.yield() }
            for _ in 0..<50 { setup.scheduler.syncNow() }
            await #expect(throws: SluiceError.self) { try await setup.scheduler.run() }
            try await setup.context.table("todos").insert(["id": "late"])
            var requested = setup.scheduler.requestedRuns().makeAsyncIterator()
            isOpen.withLock { $0 = true }
            let first = await runs.next()
            #expect(first?.error == nil && first?.push?.applied == 0)
            #expect(await runs.next()?.error == nil)
            #expect(await requested.next()?.push?.applied == 1)
            #expect(await setup.time.pause() == .seconds(110))
        }
        opener.cancel()
        #expect(atOnce.withLock { $0.most } == 1)
    }

    @Test("one pull that the server refuses does not keep the others from running")
    func refusedPull() async throws {
        let setup = try await Setup(.memory)
        setup.server.seed("todos", [["id": "1"]])
        let broken = SyncSchedule.Pull(
            TableQuery("todos", parameters: [.init("__includeDeleted", "x")]), named: "broken")
        let good = SyncSchedule.Pull(TableQuery("todos"), named: "all")
        let scheduler = SyncScheduler(setup.context, SyncSchedule(pulls: [broken, good], spread: .zero))
        var runs = scheduler.runs.makeAsyncIterator()
        let task = Task { try await scheduler.run() }
        let run = try #require(await runs.next())
        #expect(run.error?.code == .invalidQuery && run.pulls.count == 1)
        task.cancel()
        try await task.value
    }

    @Test(
        "neither does a table whose answers are a fault of the server, refused credentials or no page",
        arguments: [500, 401, 403, 404, 200])
    func failingTable(_ status: Int) async throws {
        let setup = try await Setup(.memory)
        setup.server.seed("good", [["id": "1"]])
        let answer = SyncResponse(HTTPResponse(status: .init(code: status)), body: MessageBody(json: "no page"))
        setup.server.onRequest { ($0.head.path ?? "").contains("/bad") ? .answer(answer) : .none }
        let pulls = ["bad", "good"].map { SyncSchedule.Pull(TableQuery($0), named: "all") }
        let scheduler = SyncScheduler(setup.context, SyncSchedule(pulls: pulls, spread: .zero))
        var runs = scheduler.runs.makeAsyncIterator()
        let task = Task { try await scheduler.run() }
        let run = try #require(await runs.next())
        #expect(run.errors.map(\.table) == ["bad"] && run.pulls.map(\.stored) == [1])
        task.cancel()
        try await task.value
    }

    @Test("cancelled in the midst of a request, it returns, and nothing is said to run")
    func cancelled() async throws {
        let isWaiting = Mutex(false)
        let setup = try await Setup(
            .memory,
            filters: [
                Tap { request, next in
                    isWaiting.withLock { $0 = true }
                    try await Task.sleep(for: .seconds(100))
                    return try await next(request)
                }
            ])
        try await setup.running { _ async throws in
            while !isWaiting.withLock({ $0 }) { await Task.yield() }
        }
        #expect(try await setup.context.status().phase == .idle)
    }
}
