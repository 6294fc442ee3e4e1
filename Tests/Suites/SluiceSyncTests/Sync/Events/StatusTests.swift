import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Status: the last event says what is so")
struct StatusTests {
    @Test("a subscriber is told what is so, then what a push and a pull do", arguments: StoreKind.allCases)
    func phases(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        var phases = device.context.statusUpdates.makeAsyncIterator()
        #expect(await phases.next() == .idle)
        try await device.todos.insert(["id": "1"])
        _ = try await device.context.push()
        #expect(await phases.next() == .pushing)
        #expect(await phases.next() == .idle)
        try await device.todos.pull(named: "all")
        #expect(await phases.next() == .pulling)
        #expect(await phases.next() == .idle)
    }

    @Test("while a push runs, a new subscriber is told so first")
    func midst() async throws {
        let seen = Mutex<SyncProgress.Phase?>(nil)
        let context = Mutex<SyncContext?>(nil)
        let device = try await Device(
            .memory,
            filters: [
                Tap { request, next in
                    var phases = context.withLock { $0 }?.statusUpdates.makeAsyncIterator()
                    let phase = await phases?.next()
                    seen.withLock { $0 = phase }
                    return try await next(request)
                }
            ])
        context.withLock { $0 = device.context }
        try await device.todos.insert(["id": "1"])
        _ = try await device.context.push()
        #expect(seen.withLock { $0 } == .pushing)
        #expect(try await device.context.status().phase == .idle)
    }

    @Test("offline is said after a failure of the network, until the server answers", arguments: StoreKind.allCases)
    func offline(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        let isDown = Mutex(true)
        device.server.onRequest { _ in isDown.withLock { $0 } ? .loseRequest : .none }
        try await device.todos.insert(["id": "1"])
        var phases = device.context.statusUpdates.makeAsyncIterator()
        #expect(await phases.next() == .idle)
        #expect(try await device.context.push().end == .network)
        #expect(await phases.next() == .pushing)
        #expect(await phases.next() == .offline)
        #expect(try await device.context.status().phase == .offline)
        // A push that sends nothing knows nothing new.
        isDown.withLock { $0 = false }
        _ = try await device.context.push(tables: ["others"])
        #expect(try await device.context.status().phase == .offline)
        _ = try await device.context.push()
        #expect(try await device.context.status().phase == .idle)
    }

    enum Answered: String, CaseIterable { case hook, limit, removals, answer }

    @Test("a pull that fails at what the server answered has reached it", arguments: Answered.allCases)
    func answered(_ reason: Answered) async throws {
        let isDown = Mutex(false)
        let fails = Shared(false)
        let hook = TestHook(pull: { page in
            if fails.value, reason == .hook { throw HookMishap() }
            return page.rows.map { _ in .keep }
        })
        let device = try await Device(.memory, hooks: [hook], server: ModelServer(pageSize: 2)) {
            $0.pull.maximumRemovedRows = 1
            if reason == .limit { $0.pull.maximumRows = 6 }
        }
        device.server.seed("todos", (0..<6).map { ["id": JSON("r\($0)")] })
        _ = try? await device.todos.pull(named: "all")
        isDown.withLock { $0 = true }
        let isNoList = reason == .answer
        device.server.onRequest { request in
            if isDown.withLock({ $0 }) { return .loseRequest }
            guard isNoList else { return .none }
            return .answer(.json(200, "{}"))
        }
        let query = TableQuery("todos")
        _ = try? await device.todos.pull(query)
        #expect(try await device.context.status().phase == .offline)
        isDown.withLock { $0 = false }
        fails.value = true
        switch reason {
        case .removals: for n in 0..<6 { device.server.softDelete("todos", "r\(n)") }
        case .limit: device.server.seed("todos", (0..<9).map { ["id": JSON("n\($0)")] })
        case .hook, .answer: break
        }
        let error = await #expect(throws: SluiceError.self) {
            if reason == .removals {
                try await device.todos.pull(named: "all")
            } else {
                try await device.todos.pull(query)
            }
        }
        let codes: [Answered: SluiceError.Code] = [
            .hook: .hookFailed, .limit: .limitReached, .removals: .removalsHeld, .answer: .brokenProtocol,
        ]
        #expect(error?.code == codes[reason])
        #expect(try await device.context.status().phase == .idle)
    }

    @Test("a reconcile is told as a pull is", arguments: StoreKind.allCases)
    func reconcile(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        try await device.todos.pull(named: "all")
        let isDown = Mutex(true)
        device.server.onRequest { _ in isDown.withLock { $0 } ? .loseRequest : .none }
        var phases = device.context.statusUpdates.makeAsyncIterator()
        #expect(await phases.next() == .idle)
        await #expect(throws: SluiceError.self) { try await device.todos.reconcile(named: "all") }
        #expect(try await device.context.status().phase == .offline)
        isDown.withLock { $0 = false }
        try await device.todos.reconcile(named: "all")
        #expect(try await device.context.status().phase == .idle)
        var told: [SyncProgress.Phase?] = []
        for _ in 0..<2 { told.append(await phases.next()) }
        #expect(told == [.pulling, .offline])
    }

    @Test("operations that are held are counted, and no more when they are given up", arguments: StoreKind.allCases)
    func attention(_ kind: StoreKind) async throws {
        let device = try await Device(kind)
        device.server.onRequest { _ in .answer(.json(400, #"{"error":"no"}"#)) }
        for id in ["1", "2"] { try await device.todos.insert(["id": JSON(id)]) }
        var phases = device.context.statusUpdates.makeAsyncIterator()
        #expect(await phases.next() == .idle)
        _ = try await device.context.push()
        #expect(await phases.next() == .pushing)
        #expect(await phases.next() == .needsAttention(2))
        let status = try await device.context.status()
        #expect((status.parked, status.pending, status.needsAttention) == (2, 0, 2))
        for operation in try await device.context.queue.operations() {
            try await device.context.queue.discard(operation.id)
        }
        var last = await phases.next()
        if last == .needsAttention(1) { last = await phases.next() }
        #expect(last == .idle)
    }

    enum Failure: String, CaseIterable {
        case network, timeout, refused, unauthorized, filter, cancelled, crash, serverFailure
    }
    struct Crash: Error {}

    @Test("however a push or a pull ends, nothing is said to run any more", arguments: Failure.allCases)
    func everyEnd(_ failure: Failure) async throws {
        let device = try await Device(
            .memory,
            filters: [
                Tap { request, next in
                    switch failure {
                    case .network: throw SluiceError(.network, "down")
                    case .timeout: throw SluiceError(.timeout, "slow")
                    case .refused: return .json(400, "{}")
                    case .unauthorized: return .json(401, "")
                    case .serverFailure: return .json(500, "")
                    case .filter, .crash: throw Crash()
                    case .cancelled: throw CancellationError()
                    }
                }
            ])
        try await device.todos.insert(["id": "1"])
        let sequence = device.context.statusUpdates
        if failure == .cancelled {
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await device.context.push()
            }
            _ = try? await task.value
        } else {
            _ = try? await device.context.push()
        }
        _ = try? await device.context.pull(TableQuery("lists"), named: "all")
        let phase = try await device.context.status().phase
        #expect(phase != .pushing && phase != .pulling)
        var last: SyncProgress.Phase?
        for await event in sequence {
            let hasEnded = last == .pulling
            last = event
            if hasEnded { break }
        }
        #expect(last == phase)
    }
}
