public import SluiceCore

/// What simulations are made of. The default is what Sluice tests itself with; put your own conflict handlers, filters,
/// stores and server quirks into it and run them on as many seeds as you like.
///
/// ```swift
/// var configuration = SimulationConfiguration()
/// configuration.conflictHandlers = [Shopping()]
/// let report = Simulation(configuration).run(seeds: 1...1000)
/// ```
public struct SimulationConfiguration: Sendable {
    /// How many devices there may be, 1 to 5. Default 1 to 5.
    public var devices: ClosedRange<Int>
    /// How many things are done before all is well again. Default 30 to 60, which makes about 200 steps.
    public var actions: ClosedRange<Int>
    /// The stores that devices keep their data in; each seed draws one. Default: in memory.
    public var stores: [SimulatedStores]
    /// The wires; each seed draws one.
    public var wires: [Dialect]
    /// The faults that may happen; each seed draws some.
    public var faults: Set<SimulationFault>
    /// What servers may do other than good ones would; each seed draws some.
    public var habits = Set(SimulationHabit.allCases)
    /// Your conflict handlers. With none each seed draws one of the simulator's own, or none. One that throws has its
    /// operation held, which is no violation; one whose decision drops what both sides have is one.
    public var conflictHandlers: [any ConflictHandler]
    /// Invariants of your own, checked at the end of each story.
    public var rules: [SimulationRule] = []
    /// What happens to conflicts that no handler decides; nil draws it for each seed.
    public var conflictPolicy: ConflictPolicy?
    /// Your filters, the outermost first.
    public var filters: [any Filter]
    /// What your server does otherwise: takes a request and the model's answer to it, and gives the answer to send.
    public var quirk: (@Sendable (Request, Response) -> Response)?

    /// Your hooks. What they do to rows is seen by the oracle: one that keeps a record from being what was written, or
    /// what the server sent, is found.
    public var hooks: [any SyncHook] = []
    /// How probable it is that a hook fails, takes its time, or has an operation skipped, deferred, changed or held in
    /// the place of what it would say. Default 0.
    public var hookMishaps = 0.0

    /// A configuration.
    public init(
        devices: ClosedRange<Int> = 1...5, actions: ClosedRange<Int> = 30...60,
        stores: [SimulatedStores] = [.memory],
        wires: [Dialect] = [
            .azureV1, .azureV2, .azureV2, .azureV3, .datasync,
        ],
        faults: Set<SimulationFault> = Set(SimulationFault.allCases),
        conflictHandlers: [any ConflictHandler] = [],
        conflictPolicy: ConflictPolicy? = nil, filters: [any Filter] = [],
        quirk: (@Sendable (Request, Response) -> Response)? = nil
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

/// An invariant of your own, which is checked of every device when all is well again at the end of a story.
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
    /// The rule's name, which stands in the violation.
    public let name: String
    let problem: @Sendable (End) -> String?

    /// A rule.
    ///
    /// - Parameter problem: returns what is wrong, or nil.
    public init(_ name: String, _ problem: @escaping @Sendable (End) -> String?) {
        self.name = name
        self.problem = problem
    }

    /// The end of a story, as one device has it. The tables are `items` and `notes`.
    public struct End: Sendable {
        /// The device's number, from 0.
        public let device: Int
        let tables: [String: [JSON]]
        let serverTables: [String: [JSON]]

        /// The rows that the device has, its own changes among them, by their ids.
        public func local(_ table: String) -> [JSON] { tables[table] ?? [] }

        /// The server's rows that are not deleted, by their ids.
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
