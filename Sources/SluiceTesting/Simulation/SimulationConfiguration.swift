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
