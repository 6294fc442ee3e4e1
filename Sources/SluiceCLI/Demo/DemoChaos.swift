internal import Sluice
internal import SluiceTesting

/// The demo over a bad line: both devices edit while they sync, and try until everything has gone through.
struct DemoChaos {
    /// What happened.
    struct Facts {
        var seed: UInt64
        var edits = 0
        var attempts = 0
        var failedAttempts = 0
        var requests = 0
        var faults: [LossyTransport.Fault: Int] = [:]

        var json: JSON {
            var counts = JSON.object
            for fault in LossyTransport.Fault.allCases { counts[fault.rawValue] = JSON(faults[fault, default: 0]) }
            return [
                "seed": JSON("\(seed)"), "edits": JSON(edits), "attempts": JSON(attempts),
                "failedAttempts": JSON(failedAttempts), "requests": JSON(requests), "faults": counts,
            ]
        }
    }

    /// How many edits each device makes beside those of the story.
    static let editsPerDevice = 60
    /// How often a device tries before the demo gives up: far beyond what the line's faults explain.
    static let maximumAttempts = 2000

    var devices: [DemoDevice] = []
    private(set) var facts: Facts
    /// Which records there are more and fewer.
    private(set) var ledger = DemoLedger()
    private var lines: [LossyTransport] = []
    private var random: SeededGenerator
    private let narrator: Narrator

    init(seed: UInt64, narrator: Narrator) {
        self.narrator = narrator
        facts = Facts(seed: seed)
        random = SeededGenerator(seed: seed)
    }

    /// A line for the next device.
    mutating func line() -> LossyTransport {
        let line = LossyTransport(AsyncHTTPTransport(), seed: random.next())
        lines.append(line)
        return line
    }

    mutating func play() async throws {
        narrator.step("Both pull over a line that fails at two requests of five (seed \(facts.seed)).")
        for device in devices {
            try await untilDone(device, "pull") { _ = try await device.pull() }
        }
        narrator.step("Both work, and sync while they do: an edit waits for nothing.")
        ledger = try await DemoEdits(narrator: narrator).make(on: devices)
        facts.edits += 8
        var left = devices.map { _ in Self.editsPerDevice }
        while left.contains(where: { $0 > 0 }) {
            for (index, device) in devices.enumerated() where left[index] > 0 {
                let count = Int.random(in: 1...6, using: &random)
                for _ in 0..<count { try await edit(device) }
                left[index] -= count
                try await attempt(device)
            }
        }
        narrator.detail("\(facts.edits) edits in all, each acknowledged by the device's own store")
        narrator.step("They go on until nothing waits, then each pulls what the other one did.")
        for device in devices {
            try await untilDone(device, "push") {
                _ = try await device.context.push()
                let waiting = try await device.waiting()
                guard waiting == 0 else {
                    throw SluiceError(.network, "\(Plain.count(waiting, "change")) left in the queue")
                }
            }
        }
        for device in devices { try await untilDone(device, "pull") { _ = try await device.pull() } }
        for line in lines {
            facts.requests += line.requests
            facts.faults.merge(line.counts, uniquingKeysWith: +)
        }
        tell()
    }

    private mutating func edit(_ device: DemoDevice) async throws {
        let movies = try device.movies
        // Few records, so that the devices meet on them.
        let number = Int.random(in: 20..<40, using: &random)
        let id = "id-0\(number)"
        let duration = JSON(Int.random(in: 60..<240, using: &random))
        let change: JSON =
            Bool.random(using: &random) ? ["duration": duration] : ["rating": JSON(["G", "PG", "R"][number % 3])]
        // A plugin may have decided that there is no such movie any more, and may refuse the edit.
        guard try await movies.lookup(id: id) != nil else { return }
        do {
            try await movies.update(change.setting(["id": JSON(id)]))
            facts.edits += 1
        } catch let error as SluiceError where error.isByHook || error.code == .recordMissing {}
    }

    /// One push and pull, edits in between, however it ends.
    private mutating func attempt(_ device: DemoDevice) async throws {
        async let push = device.context.push()
        try await edit(device)
        let result = try await push
        facts.attempts += 1
        if result.end != .completed { facts.failedAttempts += 1 }
    }

    private mutating func untilDone(
        _ device: DemoDevice, _ what: String, _ body: () async throws -> Void
    ) async throws {
        var failures = 0
        while true {
            facts.attempts += 1
            do {
                try await body()
                let times = failures == 0 ? "at once" : "after \(Plain.count(failures, "failed attempt"))"
                narrator.detail("\(device.name): \(what) done \(times)")
                return
            } catch let error as SluiceError where error.code.isNetwork || error.code == .serverFailure {
                facts.failedAttempts += 1
                failures += 1
                guard failures < Self.maximumAttempts else { throw error }
            }
        }
    }

    private func tell() {
        let faults = facts.faults
        func count(_ fault: LossyTransport.Fault) -> String { Plain.count(faults[fault, default: 0]) }
        narrator.bad(
            "of \(Plain.count(facts.requests, "request")) the line lost \(count(.requestLost)) on the way out and "
                + "\(count(.answerLost)) answers on the way back,")
        narrator.bad(
            "sent \(count(.duplicated)) twice, and a gateway answered \(count(.unavailable)) before and "
                + "\(count(.badGateway)) after the server had acted")
    }
}
