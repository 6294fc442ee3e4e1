public import SluiceCore

/// A world and its actions, made from a seed. A story can be shortened, stored as JSON and played again. It keeps its
/// meaning when the generator changes.
public struct SimulationStory: Sendable, Hashable {
    /// The version of the format and of the meaning of actions.
    public static let version = 1

    /// The seed of the story.
    public var seed: UInt64
    /// The world.
    public var setting: SimulationSetting
    /// The actions, in order.
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
