import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Schedule: when to run")
struct ScheduleMachineTests {
    let start = Timestamp(ticks: 17_000_000_000_000_000)
    let schedule = SyncSchedule(interval: .seconds(100), spread: .seconds(10))

    private func machine(_ schedule: SyncSchedule? = nil) -> ScheduleMachine {
        ScheduleMachine(schedule ?? self.schedule, now: start, random: 0)
    }

    private func at(_ seconds: Double) -> Timestamp { start.advanced(by: Duration.checked(seconds: seconds) ?? .zero) }

    @Test("the first run comes within the spread, the next ones after the interval, more or less")
    func interval() {
        var machine = ScheduleMachine(schedule, now: start, random: 0.5)
        #expect(machine.next == at(5))
        #expect(machine.handle(.due, now: at(5), random: 0) == .run(pulls: true))
        let done = ScheduleMachine.Event.finished(.init(failed: false))
        #expect(machine.handle(done, now: at(6), random: 0) == .wait(.seconds(90)))
        #expect(machine.handle(.due, now: at(96), random: 0) == .run(pulls: true))
        #expect(machine.handle(done, now: at(96), random: 1) == .wait(.seconds(110)))
        #expect(machine.waitsUntil == nil)
    }

    @Test("a local write is pushed soon, with those after it, and no pull comes earlier for it")
    func changes() {
        var machine = machine()
        _ = machine.handle(.due, now: start, random: 0)
        _ = machine.handle(.finished(.init(failed: false)), now: start, random: 0.5)
        #expect(machine.handle(.changed, now: at(10), random: 0) == .wait(.seconds(1)))
        #expect(machine.handle(.changed, now: at(10.5), random: 0) == .wait(.milliseconds(500)))
        #expect(machine.handle(.due, now: at(11), random: 0) == .run(pulls: false))
        #expect(machine.handle(.finished(.init(failed: false)), now: at(12), random: 0) == .wait(.seconds(88)))
    }

    @Test("failures are followed by growing pauses by chance, which a write does not shorten")
    func failures() {
        var machine = machine()
        var pauses: [ScheduleMachine.Effect] = []
        for _ in 0..<12 {
            #expect(machine.handle(.due, now: start, random: 0) == .run(pulls: true))
            pauses.append(machine.handle(.finished(.init(failed: true)), now: start, random: 1))
            #expect(machine.handle(.changed, now: start, random: 0) == pauses.last)
        }
        #expect(pauses.prefix(9) == [1, 2, 4, 8, 16, 32, 64, 128, 256].map { .wait(.seconds($0)) }[...])
        #expect(pauses.suffix(3) == Array(repeating: .wait(.seconds(300)), count: 3)[...])
        #expect(machine.waitsUntil == at(300))
        _ = machine.handle(.due, now: start, random: 0)
        #expect(machine.handle(.finished(.init(failed: true)), now: start, random: 0.25) == .wait(.seconds(75)))
        _ = machine.handle(.due, now: start, random: 0)
        _ = machine.handle(.finished(.init(failed: false)), now: start, random: 0)
        #expect(machine.failures == 0 && machine.waitsUntil == nil)
    }

    @Test("after a failure of some operations alone they are tried again with growing pauses, and writes go soon")
    func failuresInPart() {
        var machine = machine()
        let failed = ScheduleMachine.Event.finished(.init(failed: true, isPartial: true))
        for pause in [1, 2, 4, 8] {
            #expect(machine.handle(.due, now: start, random: 0) == .run(pulls: true))
            #expect(machine.handle(failed, now: start, random: 1) == .wait(.seconds(pause)))
        }
        #expect(machine.waitsUntil == nil && machine.failures == 4)
        #expect(machine.handle(.changed, now: at(2), random: 0) == .wait(.seconds(1)))
        #expect(machine.handle(.due, now: at(3), random: 0) == .run(pulls: false))
        // A server that asks to be left alone is, whatever failed.
        let asked = ServerPace.Pause(length: .seconds(60), since: at(3))
        let outcome = ScheduleMachine.Outcome(failed: true, isPartial: true, asked: asked)
        #expect(machine.handle(.finished(outcome), now: at(3), random: 0) == .wait(.seconds(60)))
        #expect(machine.handle(.changed, now: at(3), random: 0) == .wait(.seconds(60)))
    }

    @Test(
        "what has failed in part is left alone by the pushes of later writes, which move neither its pause nor a pull")
    func passingBy() {
        var machine = machine()
        _ = machine.handle(.due, now: start, random: 0)
        #expect(!machine.passesBy)
        let failed = ScheduleMachine.Event.finished(.init(failed: true, isPartial: true))
        for _ in 0..<6 {
            _ = machine.handle(failed, now: start, random: 1)
            _ = machine.handle(.due, now: start, random: 0)
        }
        // The seventh pause has 64 s, and others follow whose writes go through, fail alike, or do so all alone.
        #expect(machine.handle(failed, now: start, random: 1) == .wait(.seconds(64)))
        let done = ScheduleMachine.Event.finished(.init(failed: false))
        for (second, end) in [(10.0, done), (20, failed), (30, done)] {
            _ = machine.handle(.changed, now: at(second), random: 0)
            #expect(machine.handle(.due, now: at(second + 1), random: 0) == .run(pulls: false))
            #expect(machine.passesBy)
            #expect(
                machine.handle(end, now: at(second + 1), random: 0)
                    == .wait(.seconds(63) - .milliseconds(Int64(nearest: second * 1000) ?? 0)))
            #expect(machine.failures == 7 && machine.waitsUntil == nil)
        }
        #expect(machine.handle(.due, now: at(64), random: 0) == .run(pulls: true))
        #expect(!machine.passesBy)
        // Its pause grows, and pulls come as often as without it.
        #expect(machine.handle(failed, now: at(64), random: 1) == .wait(.seconds(110)))
        _ = machine.handle(.changed, now: at(70), random: 0)
        _ = machine.handle(.due, now: at(71), random: 0)
        // Where the server fails as a whole, everything waits.
        _ = machine.handle(.finished(.init(failed: true)), now: at(71), random: 1)
        #expect(machine.failures == 9 && machine.waitsUntil == at(71 + 256))
        _ = machine.handle(.due, now: at(400), random: 0)
        #expect(!machine.passesBy)
        _ = machine.handle(done, now: at(400), random: 0)
        #expect(machine.failures == 0)
    }

    @Test(
        "what a server asks for is kept, within its bounds",
        arguments: [(0, 1), (1, 1), (60, 60), (3600, 3600), (31_536_000, 3600)])
    func asked(asked: Int, kept: Int) {
        var machine = machine()
        _ = machine.handle(.due, now: start, random: 0)
        let pause = ServerPace.Pause(length: .seconds(asked), since: start)
        let outcome = ScheduleMachine.Outcome(failed: true, asked: pause)
        #expect(machine.handle(.finished(outcome), now: start, random: 0) == .wait(.seconds(kept)))
        // Asking for it earlier does not help, and the return of the network neither.
        #expect(machine.handle(.requested, now: start, random: 0) == .wait(.seconds(kept)))
        #expect(machine.handle(.networkAvailable, now: start, random: 0.5) == .wait(.seconds(kept)))
        #expect(machine.waitsUntil == at(Double(kept)))
    }

    @Test("a request ends the pause after a failure, the return of a network within the spread")
    func hints() {
        var machine = machine()
        for _ in 0..<9 {
            _ = machine.handle(.due, now: start, random: 0)
            _ = machine.handle(.finished(.init(failed: true)), now: start, random: 1)
        }
        #expect(machine.handle(.networkAvailable, now: start, random: 0.3) == .wait(.seconds(3)))
        #expect(machine.handle(.requested, now: start, random: 0) == .wait(.zero))
        #expect(machine.handle(.due, now: start, random: 0) == .run(pulls: true))
    }

    @Test("a clock that is set back or ahead by years makes no pause endless")
    func clock() {
        let ages = Duration.seconds(10 * 365 * 86_400)
        var machine = machine()
        _ = machine.handle(.due, now: start, random: 0)
        _ = machine.handle(.finished(.init(failed: false)), now: start, random: 0.5)
        let effect = machine.handle(.networkAvailable, now: start.advanced(by: .zero - ages), random: 1)
        guard case .wait(let pause) = effect else { return #expect(Bool(false), "\(effect)") }
        #expect(pause <= .seconds(3610))
        #expect(machine.handle(.networkAvailable, now: start.advanced(by: ages), random: 0) == .wait(.zero))
        let restored = ScheduleMachine(schedule, failures: 3, notBefore: at(1e9), now: start, random: 0)
        #expect(restored.next == at(3600))
    }

    /// When each client came, by seconds.
    private func arrivals(
        _ count: Int, _ schedule: SyncSchedule, seconds: Int, asked: Duration? = nil, isDown: (Int) -> Bool
    ) -> [Int] {
        var random = SeededGenerator(seed: 7)
        var machines: [ScheduleMachine] = []
        var due = [[Int]](repeating: [], count: seconds + 1)
        func put(_ client: Int, _ time: Timestamp) {
            let second = Int(start.duration(to: time).components.seconds)
            if second <= seconds { due[second].append(client) }
        }
        for client in 0..<count {
            // Clients have been at it for a while: their turns are spread over the interval.
            let first = start.advanced(by: schedule.interval * Double.random(in: 0...1, using: &random))
            machines.append(ScheduleMachine(schedule, now: first, random: 0))
            put(client, machines[client].next)
        }
        var arrivals = [Int](repeating: 0, count: seconds + 1)
        for second in 0...seconds {
            var index = 0
            while index < due[second].count {
                let client = due[second][index]
                let now = max(at(Double(second)), machines[client].next)
                index += 1
                arrivals[second] += 1
                _ = machines[client].handle(.due, now: now, random: 0)
                let down = isDown(second)
                let pause = down ? asked.map { ServerPace.Pause(length: $0, since: now) } : nil
                let outcome = ScheduleMachine.Outcome(failed: down, asked: pause)
                _ = machines[client].handle(
                    .finished(outcome), now: now, random: Double.random(in: 0...1, using: &random))
                put(client, machines[client].next)
            }
        }
        return arrivals
    }

    @Test("ten thousand clients come back after an outage at no more than the rate that the schedule stands for")
    func fleet() {
        let schedule = SyncSchedule(interval: .seconds(300), maximumPause: .seconds(300), spread: .seconds(300))
        let arrivals = arrivals(10_000, schedule, seconds: 5400) { 600..<4200 ~= $0 }
        // A pause of 150 s on average, so 67 clients a second; five standard deviations above that is 108.
        let after = arrivals[4200...].max() ?? 0
        #expect(after <= 110 && after > 0, "\(after)")
        #expect(arrivals[1200..<4200].max() ?? 0 <= 110)
        #expect(arrivals[..<600].max() ?? 0 <= 70)
    }

    @Test("ten thousand clients that were told the same Retry-After spread after it")
    func fleetAsked() {
        let schedule = SyncSchedule(interval: .seconds(300), maximumPause: .seconds(60), spread: .seconds(120))
        let arrivals = arrivals(10_000, schedule, seconds: 3600, asked: .seconds(600)) { 600..<900 ~= $0 }
        // Nearly all fail within 300 s, wait for 600 s and spread over 120 s more; the others come after their
        // interval.
        #expect(arrivals[930..<1170].reduce(0, +) == 0)
        #expect(arrivals[900...].max() ?? 0 <= 80)
    }

    @Test("what has failed in part is left alone by runs for the server's changes, too, until its pause is over")
    func serverChangesWhileFailedInPart() {
        var machine = machine()
        let failed = ScheduleMachine.Event.finished(.init(failed: true, isPartial: true))
        for _ in 0..<6 {
            _ = machine.handle(.due, now: start, random: 0)
            _ = machine.handle(failed, now: start, random: 1)
        }
        for second in 1...3 {
            let now = at(Double(second))
            #expect(machine.handle(.serverChanged, now: now, random: 0) == .wait(.zero))
            #expect(machine.handle(.due, now: now, random: 0) == .run(pulls: true))
            #expect(machine.passesBy)
            let pause = Duration.seconds(32 - second)
            #expect(machine.handle(.finished(.init(failed: false)), now: now, random: 1) == .wait(pause))
        }
        #expect(machine.failures == 6)
        #expect(machine.handle(.due, now: at(32), random: 0) == .run(pulls: true))
        #expect(!machine.passesBy)
        // Who asks for a run has all tried.
        _ = machine.handle(failed, now: at(32), random: 1)
        _ = machine.handle(.serverChanged, now: at(33), random: 0)
        _ = machine.handle(.requested, now: at(33), random: 0)
        #expect(machine.handle(.due, now: at(33), random: 0) == .run(pulls: true))
        #expect(!machine.passesBy)
    }
}
