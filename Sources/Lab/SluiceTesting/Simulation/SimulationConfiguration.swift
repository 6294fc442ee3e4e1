public import SluiceCore

/// The configuration of simulations. The default is the one of Sluice's own tests. Add your own conflict handlers,
/// filters, stores and server quirks, and run them on as many seeds as you like.
///
/// ```swift
/// var configuration = SimulationConfiguration()
/// configuration.conflictHandlers = [Shopping()]
/// let report = Simulation(configuration).run(seeds: 1...1000)
/// ```
public struct SimulationConfiguration: Sendable {
    /// The range of the number of devices, 1 to 5. Default 1 to 5.
    public var devices: ClosedRange<Int>
    /// The range of the number of actions with faults. Default 30 to 60, which makes about 200 steps.
    public var actions: ClosedRange<Int>
    /// The stores of the devices; each seed draws one. Default: in memory.
    public var stores: [SimulatedStores]
    /// The wires; each seed draws one.
    public var wires: [Dialect]
    /// The faults that may happen; each seed draws some.
    public var faults: Set<SimulationFault>
    /// The traits of imperfect servers; each seed draws some.
    public var traits = Set(ServerTrait.allCases)
    /// Your conflict handlers. Without any, each seed draws one of the simulator's own, or none. If a handler throws,
    /// its operation is held, which is no violation. A decision that drops common data of both sides is a violation.
    public var conflictHandlers: [any ConflictHandler]
    /// Invariants of your own, checked at the end of each story.
    public var rules: [SimulationRule] = []
    /// The policy for conflicts that no handler decides; nil draws one for each seed.
    public var conflictPolicy: ConflictPolicy?
    /// Your filters, the outermost first.
    public var filters: [any RequestFilter]
    /// The deviation of your server: takes a request and the model's answer to it, and returns the answer to send.
    public var quirk: (@Sendable (SyncRequest, SyncResponse) -> SyncResponse)?

    /// Your hooks. The checker sees their changes to rows: a hook is reported if a record no longer equals the write or
    /// the server's row.
    public var hooks: [any SyncHook] = []
    /// The probability that a hook fails, takes its time, or skips, defers, changes or holds an operation instead of
    /// its own decision. Default 0.
    public var hookMishaps = 0.0

    /// Creates a configuration.
    public init(
        devices: ClosedRange<Int> = 1...5, actions: ClosedRange<Int> = 30...60,
        stores: [SimulatedStores] = [.memory],
        wires: [Dialect] = [
            .azureV1, .azureV2, .azureV2, .azureV3, .datasync,
        ],
        faults: Set<SimulationFault> = Set(SimulationFault.allCases),
        conflictHandlers: [any ConflictHandler] = [],
        conflictPolicy: ConflictPolicy? = nil, filters: [any RequestFilter] = [],
        quirk: (@Sendable (SyncRequest, SyncResponse) -> SyncResponse)? = nil
    ) {
        self.devices = devices
        self.actions = actions
        self.stores = stores
        self.wires = wires
        self.faults = faults
        self.conflictHandlers = conflictHandlers
        self.conflictPolicy = conflictPolicy
        self.filters = filters
        self.quirk = quirk
    }
}

/// An invariant of your own. It is checked on every device at the end of a story, without faults.
///
/// ```swift
/// var configuration = SimulationConfiguration()
/// configuration.rules = [
///     SimulationRule("a is a number") { end in
///         let odd = end.local("items").first { ($0["a"] ?? 0).kind != .number }
///         return odd.map { "\($0) has none" }
///     }
/// ]
/// ```
public struct SimulationRule: Sendable {
    /// The rule's name, which appears in the violation.
    public let name: String
    let problem: @Sendable (End) -> String?

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - name: the rule in one sentence, for reports.
    ///   - problem: returns a description of the problem, or nil.
    public init(_ name: String, _ problem: @escaping @Sendable (End) -> String?) {
        self.name = name
        self.problem = problem
    }

    /// The end of a story on one device. The tables are `items` and `notes`.
    public struct End: Sendable {
        /// The device's number, from 0.
        public let device: Int
        let tables: [String: [JSON]]
        let serverTables: [String: [JSON]]

        /// Returns the device's rows in the order of their ids, with its own changes.
        public func local(_ table: String) -> [JSON] { tables[table] ?? [] }

        /// Returns the server's rows that are not deleted, in the order of their ids.
        public func server(_ table: String) -> [JSON] { serverTables[table] ?? [] }
    }
}

extension SimulatedDevice {
    /// Checks the configuration's own rules.
    func checkRules() {
        guard !parts.configuration.rules.isEmpty else { return }
        let tables = parts.oracle.view(of: index) { view in
            view.tables.mapValues { rows in rows.sorted { $0.key < $1.key }.map(\.value) }
        }
        var serverTables: [String: [JSON]] = [:]
        for table in ["items", "notes"] {
            serverTables[table] = parts.server.rows(table).filter { !$0.isDeleted }.sorted { $0.id < $1.id }.map(\.wire)
        }
        let end = SimulationRule.End(device: index, tables: tables, serverTables: serverTables)
        for rule in parts.configuration.rules {
            guard let problem = rule.problem(end) else { continue }
            parts.oracle.violate(.rules, "device \(index), \(rule.name): \(problem)")
        }
    }
}
