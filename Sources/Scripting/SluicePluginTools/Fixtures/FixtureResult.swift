internal import SluiceCore
public import SluiceLua

/// What came of one fixture, or of one `it` of a spec.
public struct FixtureResult: Sendable {
    /// The file in the bundle.
    public let path: String
    /// The expectation.
    public let name: String
    /// The hook; nil for a spec.
    public let hook: HookKind?
    /// What differs, or is wrong with the fixture itself, each as a line. Empty where it passed.
    public let differences: [String]
    /// What is another in the deployment that it was tried in, each as a line. It passes all the same.
    public let notes: [String]
    /// The fuel that the call used.
    public let fuel: Int
    /// The time of the plugins' thread that it used.
    public let time: Duration
    /// The most that the machine held, in bytes.
    public let memory: Int

    /// Whether all is as it was expected.
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
