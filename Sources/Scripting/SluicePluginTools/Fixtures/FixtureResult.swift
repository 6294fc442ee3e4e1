internal import SluiceCore
public import SluiceLua

/// The result of one fixture.
public struct FixtureResult: Sendable {
    /// The file in the bundle.
    public let path: String
    /// The name of the fixture.
    public let name: String
    /// The hook; nil for a fixture that cannot be read.
    public let hook: HookKind?
    /// The differences, or faults of the fixture itself, one on each line. Empty if it passed.
    public let differences: [String]
    /// The differences under the deployment's configuration, one on each line. They do not make it fail.
    public let notes: [String]
    /// The fuel that the call used.
    public let fuel: Int
    /// The CPU time of the plugins' thread that it used.
    public let time: Duration
    /// The highest memory use of the machine, in bytes.
    public let memory: Int

    /// Whether there are no differences.
    public var isPassed: Bool { differences.isEmpty }

    init(
        path: String, name: String, hook: HookKind?, differences: [String], notes: [String] = [],
        cost: PluginRig.Cost = .init()
    ) {
        self.path = path
        self.name = name
        self.hook = hook
        self.differences = differences
        self.notes = notes
        fuel = cost.fuel
        time = cost.time
        memory = cost.memory
    }

    var json: JSON {
        var json: JSON = [
            "path": JSON(path), "name": JSON(name), "hook": hook.map { JSON($0.rawValue) } ?? .null,
            "passed": JSON(isPassed), "differences": JSON(differences.map { JSON($0) }), "fuel": JSON(fuel),
        ]
        if !notes.isEmpty { json["notes"] = JSON(notes.map { JSON($0) }) }
        return json
    }
}

/// The result of a hook's answer, for comparison with a fixture.
struct FixtureAnswer: Sendable {
    /// The decision, for a merge by rules with the resulting record; nil for none.
    var decision: JSON?
    /// The record with the plugin's changes.
    var record: JSON?
    /// The value that a codec's hook returned, and the value that the other hook made of that.
    var value: JSON?
    var back: JSON?
    /// The rows of a page with the plugin's changes, and the dropped rows.
    var rows: JSON?
    var dropped: JSON?
    /// The request that continues.
    var request: SyncRequest?
    /// The answer that is returned to the caller.
    var response: SyncResponse?
    /// The hook's result or its changed argument, as in the decision log.
    var raw: JSON?

    init() {}

    /// Reads the decision from a hook's result, if there is one.
    init(_ result: HookReturn) {
        raw = result.value ?? result.changed[0]
        if let value = result.value, result.type == nil, value["decision"]?.string != nil { decision = value }
    }
}
