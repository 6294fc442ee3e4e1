internal import SluiceCore
internal import Synchronization

/// Decides whether a fault strikes, and counts those that did.
final class SimulationFaults: Sendable {
    private struct State {
        var isCalm = true
        var counts: [SimulationFault: Int] = [:]
    }

    private let probabilities: [SimulationFault: Double]
    private let luck: SimulationLuck
    private let state = Mutex(State())

    init(_ probabilities: [SimulationFault: Double], luck: SimulationLuck) {
        self.probabilities = probabilities
        self.luck = luck
    }

    var counts: [SimulationFault: Int] { state.withLock { $0.counts } }

    /// No fault happens while it is calm.
    func setCalm(_ isCalm: Bool) { state.withLock { $0.isCalm = isCalm } }

    /// Whether the story has the fault at all.
    func allows(_ fault: SimulationFault) -> Bool { probabilities[fault] != nil }

    /// Whether the fault happens now.
    func strikes(_ fault: SimulationFault, of device: Int = 0) -> Bool {
        guard let probability = probabilities[fault] else { return false }
        // The luck is drawn in calm times too, so that what comes after stays as it was.
        let strikes = luck.strikes(Self.isRare(fault) ? probability / 5 : probability)
        return state.withLock { state in
            guard strikes, !state.isCalm else { return false }
            state.counts[fault, default: 0] += 1
            return true
        }
    }

    /// Whether something that is no fault of the story's happens now, with that probability.
    func strikes(_ probability: Double) -> Bool {
        let strikes = luck.strikes(probability)
        return strikes && !state.withLock { $0.isCalm }
    }

    /// The ends of processes: what a story needs to have something to end.
    private static func isRare(_ fault: SimulationFault) -> Bool {
        switch fault {
        case .crashAtCommitPoint, .crashAtEffect, .storeFailure, .storeTrouble, .clockBack, .clockSetBack, .pageSize,
            .forgetRequests:
            true
        default: false
        }
    }
}

/// All chance of a simulation: what it draws follows from the seed that it was last given.
///
/// Each action of a story brings a seed of its own, so that a story from which actions are taken away leaves the luck
/// of the others as it was.
final class SimulationLuck: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

    func reseed(_ seed: UInt64) { generator.withLock { $0 = SeededGenerator(seed: seed) } }

    /// A number below `count`, which is 1 or more.
    func below(_ count: Int) -> Int { generator.withLock { Int($0.next() % UInt64(count)) } }

    /// Whether something of that probability happens.
    func strikes(_ probability: Double) -> Bool {
        probability > 0 && generator.withLock { Double($0.next() >> 11) / Double(1 << 53) } < probability
    }
}
