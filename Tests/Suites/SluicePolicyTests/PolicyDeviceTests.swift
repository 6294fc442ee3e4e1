import Foundation
import SluiceCore
import SluiceLua
import SluicePolicy
import Testing

@Suite("A device's way from one policy to the next")
struct PolicyDeviceTests {
    private let signer = PolicySigner()

    private func device(_ change: (inout PolicyBounds) -> Void = { _ in }) -> PolicyDevice {
        var bounds = PolicyBounds()
        (bounds.trial, bounds.probation, bounds.least) = (.seconds(60), .seconds(120), 10)
        change(&bounds)
        return PolicyDevice(
            PolicyDevice.State(), PolicyDeviceName(id: "d1"), PolicyTrust([.init(signer.key)]), bounds)
    }

    private func tally(_ calls: Int, errors: Int = 0, compared: Int = 0, differences: Int = 0) -> PolicyTally {
        var tally = PolicyTally()
        (tally.calls, tally.errors, tally.compared) = (calls, errors, compared)
        if differences > 0 { tally.differences = ["on_conflict: server, not client": differences] }
        return tally
    }

    /// Lets a number of seconds pass, with the counts of each.
    private func pass(
        _ device: inout PolicyDevice, _ seconds: Range<Int>, serving: PolicyTally = PolicyTally(),
        trial: PolicyTally = PolicyTally()
    ) -> [PolicyDevice.Effect] {
        seconds.flatMap { device.counted(serving: serving, trial: trial, at: after($0)) }
    }

    @Test("a good release is tried, serves on probation, and stays") func good() throws {
        var device = device()
        let (effects, release) = device.offered(try signed(SluicePolicyTests.release(1), signer), at: noon)
        #expect(release?.version == 1)
        #expect(effects == [.keep(version: 1), .save, .report(.init(.taken, 1)), .shadow(1)])
        #expect(device.offered(try signed(SluicePolicyTests.release(1), signer), at: noon).effects.isEmpty)
        let served = pass(&device, 0..<61, trial: tally(100, compared: 100, differences: 5))
        #expect(served == [.save, .shadow(nil), .serve(1), .report(.init(.serving, 1))])
        let settled = pass(&device, 61..<200, serving: tally(100, errors: 1))
        #expect(settled == [.save, .report(.init(.settled, 1))])
        #expect(device.state.needed == [1])
        #expect(pass(&device, 200..<400, serving: tally(10, errors: 10)).isEmpty, "it is not judged any more")
    }

    @Test("a trial with enough decisions ends earlier, and one whose decisions differ is withdrawn") func trials()
        throws
    {
        var early = device { $0.decisions = 50 }
        _ = early.offered(try signed(release(1), signer), at: noon)
        #expect(pass(&early, 0..<2, trial: tally(49, compared: 49)).isEmpty)
        #expect(pass(&early, 2..<3, trial: tally(50, compared: 50)).contains(.serve(1)))
        var bad = device()
        _ = bad.offered(try signed(release(1), signer), at: noon)
        let reason = "6 of 100 decisions of the trial differ"
        #expect(
            pass(&bad, 0..<1, trial: tally(100, compared: 100, differences: 6))
                == [.save, .shadow(nil), .report(.init(.withdrawn, 1, reason))])
        #expect(bad.state.serving == nil && bad.state.stage == .settled)
        let again = bad.offered(try signed(release(1), signer), at: noon)
        #expect(again.release == nil && again.effects.count == 1)
        #expect(bad.offered(try signed(release(2), signer), at: noon).release?.version == 2)
    }

    @Test("in its probation it goes back to the one before, which goes on with its own") func goesBack() throws {
        var device = device { $0.trial = .zero }
        _ = device.offered(try signed(release(1), signer), at: noon)
        _ = pass(&device, 0..<121)
        #expect(device.state.settled == 1)
        _ = device.offered(try signed(release(2), signer), at: after(130))
        _ = pass(&device, 130..<140)
        _ = device.offered(try signed(release(3), signer), at: after(140))
        #expect(device.state.serving == 3 && device.state.needed == [1, 2, 3])
        #expect(device.state.servingSince == after(140))
        #expect(pass(&device, 140..<141, serving: tally(9, errors: 9)).isEmpty, "too few calls prove nothing")
        let back = pass(&device, 141..<142, serving: tally(10, errors: 1))
        #expect(back == [.save, .serve(2), .report(.init(.withdrawn, 3, "1 of 10 calls failed"))])
        #expect(device.state.stage == .probation && device.state.servingSince == after(141))
        #expect(PolicyDevice.State(device.state.json) == device.state)
        let further = pass(&device, 142..<143, serving: tally(10, errors: 1))
        #expect(further == [.save, .serve(1), .report(.init(.withdrawn, 2, "1 of 10 calls failed"))])
        #expect(device.state.stage == .settled && device.state.needed == [1])
    }

    @Test("a version that does not load is withdrawn, at any stage") func loads() throws {
        var device = device()
        _ = device.offered(try signed(release(1), signer), at: noon)
        #expect(device.failedToLoad(1, "a fixture fails").contains(.shadow(nil)))
        _ = device.offered(try signed(release(2), signer), at: noon)
        _ = pass(&device, 0..<61)
        #expect(
            device.failedToLoad(2, "no memory") == [.save, .serve(nil), .report(.init(.withdrawn, 2, "no memory"))])
        #expect(device.failedToLoad(2, "no memory").isEmpty)
    }

    @Test("a version whose file is lost, or that is not granted, is not withdrawn, and may be taken once more")
    func lost() throws {
        var device = device { $0.trial = .zero }
        let file = try signed(release(1), signer)
        _ = device.offered(file, at: noon)
        for second in 0..<130 { _ = device.counted(serving: tally(100), trial: PolicyTally(), at: after(second)) }
        #expect(device.state.settled == 1)
        #expect(device.failedToLoad(1, "no secret") == [.save, .serve(nil)])
        #expect(device.state.past.withdrawn.isEmpty)
        let refused = device.offered(file, at: noon) { _ throws(PolicyRefusal) in throw PolicyRefusal(.notGranted, "no")
        }
        #expect(refused.release == nil && device.refusal?.kind == .notGranted)
        #expect(device.offered(file, at: noon).release?.version == 1)
        #expect(device.lost(1) == [.save, .serve(nil)])
        #expect(device.offered(file, at: noon).effects.contains(.serve(1)))
    }

    @Test("clocks that jump make no trial or probation shorter than its steps") func clocks() throws {
        var device = device()
        _ = device.offered(try signed(release(1), signer), at: noon)
        _ = device.counted(serving: PolicyTally(), trial: PolicyTally(), at: noon)
        #expect(device.counted(serving: PolicyTally(), trial: PolicyTally(), at: after(-86_400)).isEmpty)
        #expect(device.state.trialTime == .zero)
        _ = device.counted(serving: PolicyTally(), trial: PolicyTally(), at: after(10 * 365 * 86_400))
        #expect(device.state.trialTime == .seconds(10) && device.state.stage == .trial)
        // The time before a release came is no part of its trial.
        _ = device.counted(serving: PolicyTally(), trial: PolicyTally(), at: after(0))
        _ = device.offered(try signed(release(2), signer), at: after(100_000))
        _ = device.counted(serving: PolicyTally(), trial: PolicyTally(), at: after(100_001))
        #expect(device.state.trialTime == .seconds(1))
    }

    @Test("an older one stays refused after a restart, with the clock set back too") func downgrade() async throws {
        try await withFolder { path in
            let folder = try PolicyFolder(path)
            var device = device()
            let file = try signed(release(3), signer)
            if let release = device.offered(file, at: noon).release { try folder.keep(release) }
            try folder.save(device.state)
            for time in [noon, after(-1_000_000)] {
                var next = PolicyDevice(try folder.state(), device.name, device.trust, device.bounds)
                #expect(next.state == device.state)
                let (effects, taken) = next.offered(try signed(release(2), signer), at: time)
                #expect(taken == nil && effects.count == 1)
            }
        }
    }

    @Test("a folder is one daemon's: a second one is told whose it is") func claims() async throws {
        try await withFolder { path in
            let folder = try PolicyFolder(path)
            var first: PolicyFolderClaim? = try folder.claim(process: 17)
            #expect(first?.isIn(path) == true)
            let error = #expect(throws: SluiceError.self) { _ = try folder.claim(process: 18) }
            #expect(error?.code == .storeBusy && error?.message.contains("process id 17") == true)
            #expect(error?.message.contains(path) == true && error?.message.contains("policy.folder") == true)
            first = nil
            let next = try folder.claim(process: 18)
            #expect(next.isIn(path))
            try FileManager.default.removeItem(atPath: "\(path)/daemon")
            #expect(!next.isIn(path), "it was removed")
        }
    }

    @Test("an end at any point leaves one whole policy, and the way goes on from there") func kills() async throws {
        struct Killed: Error {}
        for point in 0..<60 {
            try await withFolder { path in
                var left = point
                func step() throws {
                    left -= 1
                    if left < 0 { throw Killed() }
                }
                /// Plays on from the disk, and returns the version that serves.
                func play(_ files: [[UInt8]]) throws -> Int? {
                    let folder = try PolicyFolder(path)
                    var device = PolicyDevice(
                        try folder.state(), PolicyDeviceName(id: "d1"), PolicyTrust([.init(signer.key)]), bounds)
                    var serving: Int?
                    func carryOut(_ effects: [PolicyDevice.Effect]) throws {
                        for effect in effects {
                            try step()
                            switch effect {
                            case .keep, .report: break
                            case .save: try folder.save(device.state)
                            case .shadow(let version), .serve(let version):
                                if let version { #expect(try folder.release(version) == release(version)) }
                                if case .serve = effect { serving = version }
                            }
                            try step()
                        }
                    }
                    try carryOut(device.began())
                    for (index, file) in files.enumerated() {
                        let (effects, taken) = device.offered(file, at: noon)
                        if let taken {
                            try step()
                            try folder.keep(taken)
                        }
                        try carryOut(effects)
                        let bad = index == 1 ? tally(10, errors: 10) : tally(10)
                        for second in 0..<3 {
                            try carryOut(device.counted(serving: bad, trial: tally(10), at: after(second)))
                        }
                    }
                    #expect(device.state.needed.allSatisfy { (try? folder.release($0)) != nil })
                    return serving
                }
                let files = try [1, 2, 3].map { try signed(release($0), signer) }
                do { _ = try play(files) } catch is Killed {}
                left = .max
                // The process begins again: with what is on the disk, then with the files once more.
                let first = try play([])
                #expect([nil, 1, 2, 3].contains(first))
                #expect(try play(files.suffix(1)) == 3)
            }
        }
    }

    private var bounds: PolicyBounds {
        var bounds = PolicyBounds()
        (bounds.trial, bounds.probation, bounds.least) = (.seconds(1), .seconds(1), 10)
        return bounds
    }
}
