internal import Synchronization

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
