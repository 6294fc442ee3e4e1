import SluiceBase
import SluiceCore
import SluicePolicy
import Testing

/// A thousand devices on one model clock, each with its own state machine, a web server, and offline times.
@Suite("A thousand devices and one server")
struct FleetSimulationTests {
    private static let period = 60
    private let signer = PolicySigner()

    private struct Member {
        var device: PolicyDevice
        /// The second within the period in which it asks.
        let phase: Int
        /// The times in which it is offline.
        let offline: Range<Int>?
        /// The calls of the serving policy, and how many have failed.
        var calls = 0
        var errors = 0
        var asked = 0
        /// The file of the last answer, which the server does not send again.
        var known: [UInt8] = []
    }

    private func fleet(_ count: Int, seed: UInt64) -> [Member] {
        var random = SeededGenerator(seed: seed)
        var bounds = PolicyBounds()
        (bounds.trial, bounds.probation, bounds.least) = (.zero, .seconds(600), 20)
        return (0..<count).map { number in
            let start = Int.random(in: 0..<600, using: &random)
            return Member(
                device: PolicyDevice(
                    PolicyDevice.State(), PolicyDeviceName(id: "device-\(number)"),
                    PolicyTrust([.init(signer.key)]), bounds),
                phase: Int.random(in: 0..<Self.period, using: &random),
                offline: number.isMultiple(of: 10) ? start..<(start + 600) : nil)
        }
    }

    /// Lets seconds pass in which devices ask for `file`, call their hooks once a second, and judge.
    ///
    /// - Parameter fails: whether the call of a version about a record fails.
    private func pass(
        _ members: inout [Member], _ seconds: Range<Int>, _ file: [UInt8], fails: (Int, Int) -> Bool,
        each: (Int, [Member]) -> Void = { _, _ in }
    ) {
        for second in seconds {
            for index in members.indices where !(members[index].offline?.contains(second) ?? false) {
                if second % Self.period == members[index].phase { ask(&members[index], file, second) }
                members[index].calls += 1
                if fails(members[index].device.state.serving ?? 0, second * 7 + index * 13) {
                    members[index].errors += 1
                }
                var tally = PolicyTally()
                (tally.calls, tally.errors) = (members[index].calls, members[index].errors)
                _ = members[index].device.counted(serving: tally, trial: PolicyTally(), at: after(second))
            }
            each(second, members)
        }
    }

    private func ask(_ member: inout Member, _ file: [UInt8], _ second: Int) {
        member.asked += 1
        if member.known == file, member.device.refusal == nil { return }
        member.known = file
        let before = member.device.state.serving
        _ = member.device.offered(file, at: after(second))
        if member.device.state.serving != before { (member.calls, member.errors) = (0, 0) }
    }

    private func serving(_ version: Int?, _ members: [Member]) -> Int {
        members.count { $0.device.state.serving == version }
    }

    @Test("a good release is everywhere within two periods where a device can be reached, by one request a period")
    func good() throws {
        var members = fleet(1_000, seed: 1)
        let file = try signed(release(1), signer)
        pass(&members, 0..<(2 * Self.period), file, fails: { _, _ in false })
        for member in members where !(member.offline?.overlaps(0..<(2 * Self.period)) ?? false) {
            #expect(member.device.state.serving == 1)
        }
        #expect(members.allSatisfy { $0.asked <= 2 })
        #expect(members.map(\.asked).reduce(0, +) <= 2_000)
        pass(&members, (2 * Self.period)..<2_400, file, fails: { _, _ in false })
        #expect(serving(1, members) == 1_000, "those that were offline too")
    }

    @Test("a policy that fails for one record in fifty is off on each device within a minute of its bound")
    func bad() throws {
        var members = fleet(1_000, seed: 2)
        pass(&members, 0..<1_300, try signed(release(1), signer), fails: { _, _ in false })
        var passedBound: [Int: Int] = [:]
        var off: [Int: Int] = [:]
        var worst = 0
        pass(
            &members, 1_800..<2_800, try signed(release(2), signer),
            fails: { version, record in version == 2 && record.isMultiple(of: 50) },
            each: { second, members in
                for (index, member) in members.enumerated() {
                    let isOver =
                        member.errors > 0 && member.calls >= 20
                        && Double(member.errors) > 0.01 * Double(member.calls)
                    if isOver, member.device.state.past.version == 2, passedBound[index] == nil {
                        passedBound[index] = second
                    }
                    if member.device.state.past.withdrawn[2] != nil, off[index] == nil { off[index] = second }
                }
                worst = max(worst, serving(2, members))
            })
        #expect(off.count == 1_000 && serving(2, members) == 0 && serving(1, members) == 1_000)
        let delays = off.map { index, second in second - (passedBound[index] ?? second) }
        #expect(delays.allSatisfy { $0 <= 60 }, "the longest was \(delays.max() ?? 0) s")
        #expect(worst > 0)
        // A better one is taken, where the bad one is not.
        pass(&members, 2_800..<3_000, try signed(release(3), signer), fails: { _, _ in false })
        #expect(serving(3, members) == 1_000)
    }

    @Test("a rollout reaches only its share, the same devices and more with each step")
    func steps() throws {
        var members = fleet(1_000, seed: 3)
        var now = 2_000
        var before: Set<String> = []
        for (share, around) in [(1_000, 1...25), (10_000, 70...130), (100_000, 1_000...1_000)] {
            var step = release(1)
            step.audience.share = share
            pass(&members, now..<(now + 2 * Self.period), try signed(step, signer), fails: { _, _ in false })
            now += 2 * Self.period
            let taken = Set(members.filter { $0.device.state.serving == 1 }.map(\.device.name.id))
            #expect(around.contains(taken.count) && before.isSubset(of: taken), "\(taken.count) of \(share)")
            before = taken
        }
    }
}
