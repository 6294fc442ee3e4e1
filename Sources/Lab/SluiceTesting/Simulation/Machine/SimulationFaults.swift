internal import SluiceCore
internal import Synchronization

/// Decides whether a fault strikes, and counts the faults that did.
final class SimulationFaults: Sendable {
    private struct State {
        var isCalm = true
        var counts: [SimulationFault: Int] = [:]
    }

    private let probabilities: [SimulationFault: Double]
    private let random: SimulationRandom
    private let state = Mutex(State())

    init(_ probabilities: [SimulationFault: Double], random: SimulationRandom) {
        self.probabilities = probabilities
        self.random = random
    }

    var counts: [SimulationFault: Int] { state.withLock { $0.counts } }

    /// Turns faults off or on.
    func setCalm(_ isCalm: Bool) { state.withLock { $0.isCalm = isCalm } }

    /// Whether the story has the fault at all.
    func allows(_ fault: SimulationFault) -> Bool { probabilities[fault] != nil }

    /// Whether the fault happens now.
    func strikes(_ fault: SimulationFault, of device: Int = 0) -> Bool {
        guard let probability = probabilities[fault] else { return false }
        // Drawn in calm times too, so that later random choices do not depend on calm.
        let strikes = random.strikes(Self.isRare(fault) ? probability / 5 : probability)
        return state.withLock { state in
            guard strikes, !state.isCalm else { return false }
            state.counts[fault, default: 0] += 1
            return true
        }
    }

    /// Whether an event that is no fault of the story happens now, with that probability.
    func strikes(_ probability: Double) -> Bool {
        let strikes = random.strikes(probability)
        return strikes && !state.withLock { $0.isCalm }
    }

    /// Whether the fault strikes a fifth as often, so that work gets under way between two of them.
    private static func isRare(_ fault: SimulationFault) -> Bool {
        switch fault {
        case .crashAtCommitPoint, .crashAtEffect, .storeFailure, .storeTrouble, .clockBack, .clockSetBack, .pageSize,
            .forgetRequests:
            true
        default: false
        }
    }
}

/// The random choices of a simulation, which follow from the last seed.
///
/// Each action of a story has a seed of its own, so that removing an action leaves the random choices of the others
/// unchanged.
final class SimulationRandom: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

    func reseed(_ seed: UInt64) { generator.withLock { $0 = SeededGenerator(seed: seed) } }

    /// Returns a number below `count`, which is 1 or more.
    func below(_ count: Int) -> Int { generator.withLock { Int($0.next() % UInt64(count)) } }

    /// Returns whether an event of that probability happens.
    func strikes(_ probability: Double) -> Bool {
        probability > 0 && generator.withLock { Double($0.next() >> 11) / Double(1 << 53) } < probability
    }
}
