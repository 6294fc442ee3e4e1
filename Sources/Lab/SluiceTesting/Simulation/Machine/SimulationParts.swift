internal import SluiceCore
internal import Synchronization

/// The shared parts of one simulation.
final class SimulationParts: Sendable {
    let setting: SimulationSetting
    let configuration: SimulationConfiguration
    let executor = SimulationExecutor()
    let random: SimulationRandom
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
        random = SimulationRandom(seed: story.seed)
        faults = SimulationFaults(story.setting.faults, random: random)
        trace = SimulationTrace(isKept: keepsTrace)
        dialect = try SimulatedService(story.setting)?.dialect ?? Dialect(named: story.setting.wire)
        oracle = SimulationOracle(
            setting, columns: dialect.pushColumns, hasFilters: !configuration.filters.isEmpty,
            forgetsDeleted: SimulatedService(story.setting) != nil)
        server = SimulatedServer(
            setting: story.setting, dialect: dialect, clock: clock, random: random, faults: faults, oracle: oracle)
    }

    /// The probability that a hook of the application fails or decides otherwise.
    var hookMishaps: Double { max(configuration.hookMishaps, setting.hookMishaps) }

    /// The counts so far, by kind.
    var count: SimulationCounts { counts.withLock { $0 } }

    func count(_ kind: any WritableKeyPath<SimulationCounts, Int> & Sendable) {
        counts.withLock { $0[keyPath: kind] += 1 }
    }

    /// Takes in a transaction that a device's store has committed.
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

/// The true time of a simulation. Devices and server have clocks of their own, which may be wrong.
final class SimulationClock: Sendable {
    private let ticks: Mutex<Int64>

    /// Creates a clock that begins in the year 2023.
    init() { ticks = Mutex(16_800_000_000_000_000) }

    var now: Timestamp { Timestamp(ticks: ticks.withLock { $0 }) }

    func advance(milliseconds: Int) { ticks.withLock { $0 += Int64(milliseconds) * 10_000 } }

    /// Moves on to that time, if it is later.
    func advance(to time: Timestamp) { ticks.withLock { $0 = max($0, time.ticks) } }
}

/// The events in order: always as a hash, as lines only when requested.
final class SimulationTrace: Sendable {
    private struct State {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        var lines: [String] = []
    }

    private let state = Mutex(State())
    let isKept: Bool

    init(isKept: Bool) { self.isKept = isKept }

    var hash: UInt64 { state.withLock { $0.hash } }
    var lines: [String] { state.withLock { $0.lines } }

    /// Notes an event: its name and its details go into the hash.
    func note(_ name: StaticString, _ detail: String = "", _ number: Int = 0, line: @autoclosure () -> String) {
        let line = isKept ? line() : ""
        let isKept = isKept
        var detail = detail
        state.withLock { state in
            let named = name.withUTF8Buffer { Self.add($0, to: state.hash) }
            let told = detail.withUTF8 { Self.add($0, to: named) }
            state.hash = Self.add(UInt64(bitPattern: Int64(number)), to: told)
            if isKept { state.lines.append(line) }
        }
    }

    /// FNV-1a, of Fowler, Noll and Vo.
    private static func add(_ bytes: UnsafeBufferPointer<UInt8>, to hash: UInt64) -> UInt64 {
        var hash = hash
        for byte in bytes { hash = add(UInt64(byte), to: hash) }
        return hash
    }

    private static func add(_ value: UInt64, to hash: UInt64) -> UInt64 { (hash ^ value) &* 0x100_0000_01B3 }
}
