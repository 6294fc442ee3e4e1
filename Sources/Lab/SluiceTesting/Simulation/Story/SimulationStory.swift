public import SluiceCore

/// What a seed stands for: a world and what is done in it. A story can be thinned, kept as JSON and played again, and
/// says the same when the generator that made it has long changed.
public struct SimulationStory: Sendable, Hashable {
    /// The version of the format, and of what actions mean.
    public static let version = 1

    /// The seed that it was made from.
    public var seed: UInt64
    /// The world.
    public var setting: SimulationSetting
    /// What is done, in order.
    public var actions: [SimulationAction]

    init(seed: UInt64, setting: SimulationSetting, actions: [SimulationAction]) {
        self.seed = seed
        self.setting = setting
        self.actions = actions
    }

    /// The story as JSON.
    public var json: JSON {
        [
            "version": JSON(Self.version), "seed": JSON(Int64(bitPattern: seed)), "setting": setting.json,
            "actions": JSON(actions.map(\.json)),
        ]
    }

    /// Reads a story.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for JSON that is no story, or one of another version.
    public init(json: JSON) throws(SluiceError) {
        guard json["version"]?.int == Int64(Self.version), let seed = json["seed"]?.int,
            let setting = json["setting"].flatMap(SimulationSetting.init(json:)),
            let actions = json["actions"]?.elements
        else { throw SluiceError(.invalidArgument, "this is no story of version \(Self.version)") }
        self.init(
            seed: UInt64(bitPattern: seed), setting: setting, actions: actions.compactMap(SimulationAction.init(json:)))
    }
}
