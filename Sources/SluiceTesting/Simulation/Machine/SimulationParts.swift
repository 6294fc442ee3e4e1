internal import SluiceCore
internal import Synchronization

/// What the parts of one simulation share.
final class SimulationParts: Sendable {
    let setting: SimulationSetting
    let configuration: SimulationConfiguration
    let executor = SimulationExecutor()
    let luck: SimulationLuck
    let faults: SimulationFaults
    let trace: SimulationTrace
    let clock = SimulationClock()
    let agenda = SimulationAgenda()
    let tokens = SimulationTokens()
    let oracle: SimulationOracle
    let server: SimulatedServer
    let dialect: Dialect
    private let counts = Mutex(SimulationCounts())

    init(_ story: SimulationStory, _ configuration: SimulationConfiguration, keepsTrace: Bool) throws {
        setting = story.setting
        self.configuration = configuration
        luck = SimulationLuck(seed: story.seed)
        faults = SimulationFaults(story.setting.faults, luck: luck)
        trace = SimulationTrace(isKept: keepsTrace)
        dialect = try SimulatedService(story.setting)?.dialect ?? Dialect(named: story.setting.wire)
        oracle = SimulationOracle(
            setting, columns: dialect.pushColumns, hasFilters: !configuration.filters.isEmpty,
            forgetsDeleted: SimulatedService(story.setting) != nil)
        server = SimulatedServer(
            setting: story.setting, dialect: dialect, clock: clock, luck: luck, faults: faults, oracle: oracle)
    }

    /// How probable it is that a hook of the application does not go on.
    var hookMishaps: Double { max(configuration.hookMishaps, setting.hookMishaps) }

    /// What has happened so far, by kind.
    var count: SimulationCounts { counts.withLock { $0 } }

    func count(_ kind: any WritableKeyPath<SimulationCounts, Int> & Sendable) {
        counts.withLock { $0[keyPath: kind] += 1 }
    }

    /// A device's store has committed a transaction.
    func committed(_ transaction: SimulatedTransaction, on device: Int) {
        let changes = transaction.changes
        count(\.commits)
        trace.note(
            "commit", changes[0].table, changes.count * 8 + device,
            line: "  device \(device) commits: \(changes.map(\.description).joined(separator: ", "))")
        if setting.usesTokens, let change = changes.first(where: Self.holdsToken) {
            oracle.violate(.secrets, "device \(device) stores a token: \(change.description)")
        }
        oracle.committed(transaction, on: device)
        transaction.acknowledge()
    }

    private static func holdsToken(_ change: StoreChange) -> Bool {
        change.record.map { SimulationText.holds(Array($0.description.utf8), SimulationTokens.mark) } ?? false
    }
}

/// The one true time of a simulation. Devices and server see it through clocks of their own, which may be wrong.
final class SimulationClock: Sendable {
    private let ticks: Mutex<Int64>

    /// Begins in the year 2023.
    init() { ticks = Mutex(16_800_000_000_000_000) }

    var now: Timestamp { Timestamp(ticks: ticks.withLock { $0 }) }

    func advance(milliseconds: Int) { ticks.withLock { $0 += Int64(milliseconds) * 10_000 } }

    /// Moves on to that time, if it is not past.
    func advance(to time: Timestamp) { ticks.withLock { $0 = max($0, time.ticks) } }
}
