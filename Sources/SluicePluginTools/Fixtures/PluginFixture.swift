public import SluiceCore
public import SluiceLua

/// One call of one hook, written down: what it is given, what the world around it answers, and what has to come of it.
/// docs/plugin-fixtures.md has the format.
public struct PluginFixture: Sendable {
    /// The file in the bundle, or what it was called.
    public let path: String
    /// The expectations.
    public let name: String
    /// The hook.
    public let hook: HookKind
    /// The configuration, before the schema's defaults.
    public let config: JSON
    /// Whether the fixture says it, and is not for any.
    let hasConfig: Bool
    /// Where the plugin runs.
    public let deployment: Deployment
    /// What the hook is given.
    let given: JSONPlace
    /// What is around the plugin.
    let world: FixtureWorld.Script
    /// What is expected.
    var expectation: FixtureExpectation

    /// Reads a fixture.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file, the JSON pointer and what is wrong
    ///   there.
    public init(bytes: [UInt8], path: String) throws(SluiceError) {
        let json: JSON
        do throws(JSONParseError) {
            json = try JSON(parsing: bytes)
        } catch {
            throw SluiceError(.invalidArgument, "\(path): \(error)")
        }
        try self.init(json, path: path)
    }

    /// Reads a fixture.
    ///
    /// - Throws: ``SluiceError`` as ``init(bytes:path:)``.
    public init(_ json: JSON, path: String) throws(SluiceError) {
        let root = JSONPlace(json, in: path)
        let members = try root.members(["name", "hook", "given", "config", "deployment", "host", "expect"])
        func needed(_ name: String) throws(SluiceError) -> JSONPlace {
            guard let place = members[name] else { throw root.refusal("expected a member \(name), found none") }
            return place
        }
        self.path = path
        name = try needed("name").text()
        hook = try HookKind(rawValue: needed("hook").choice(of: HookKind.allCases.map(\.rawValue))) ?? .initialize
        given = members["given"] ?? root.child(.object, "given")
        config = members["config"]?.value ?? .object
        hasConfig = members["config"] != nil
        deployment = try members["deployment"].map(Self.deployment) ?? Deployment()
        world = try FixtureWorld.Script(members["host"] ?? root.child(.object, "host"))
        expectation = try FixtureExpectation(needed("expect"))
    }

    private static func deployment(_ place: JSONPlace) throws(SluiceError) -> Deployment {
        let members = try place.members(["id", "labels"])
        var deployment = Deployment()
        if let id = members["id"] { deployment.id = try id.text() }
        for (name, place) in try members["labels"]?.entries(upTo: 64) ?? [] {
            guard let label = place.value.string else { throw place.expected("a text") }
            deployment.labels[name] = label
        }
        return deployment
    }
}

extension PluginBundle {
    /// The bundle's fixture at a path.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`.
    public func fixture(at path: String) throws(SluiceError) -> PluginFixture {
        try PluginFixture(bytes: files[path] ?? [], path: path)
    }
}
