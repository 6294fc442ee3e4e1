public import SluiceCore
public import SluiceLua

/// A test of one call of one hook: the input, the answers of the simulated world, and the expectations.
/// docs/plugin-tools.md describes the format.
public struct PluginFixture: Sendable {
    /// The file in the bundle, or the name given for it.
    public let path: String
    /// The name of the test: its expectation as a phrase.
    public let name: String
    /// The hook.
    public let hook: HookKind
    /// The configuration, before the schema's defaults.
    public let config: JSON
    /// Whether the fixture sets a configuration.
    let hasConfig: Bool
    /// The deployment of the plugin.
    public let deployment: Deployment
    /// The input of the hook.
    let given: JSONPlace
    /// The simulated world of the plugin.
    let world: FixtureWorld.Script
    /// The expectations.
    var expectation: FixtureExpectation

    /// Reads a fixture.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file, the JSON pointer and the fault.
    public init(bytes: [UInt8], path: String) throws(SluiceError) {
        let json: JSON
        do throws(JSON.ParseError) {
            json = try JSON(parsing: bytes)
        } catch {
            throw SluiceError(.invalidArgument, "\(path): \(error)")
        }
        try self.init(json, path: path)
    }

    /// Reads a fixture.
    ///
    /// - Throws: the errors of ``init(bytes:path:)``.
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
    /// Reads the bundle's fixture at a path.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`.
    public func fixture(at path: String) throws(SluiceError) -> PluginFixture {
        try PluginFixture(bytes: files[path] ?? [], path: path)
    }

    /// The paths of Lua specs, `tests/NAME_spec.lua`. No command runs them.
    var unusedSpecs: [String] {
        files.keys.filter { $0.hasPrefix("tests/") && $0.hasSuffix("_spec.lua") }.sorted()
    }
    /// The warning about each of them.
    static let unusedSpecWarning = "Lua specs are not run any more; write JSON fixtures"
}

/// The expectations of a fixture. Nil is not compared.
struct FixtureExpectation: Sendable {
    /// The expected members of the decision; null for no decision.
    var decision: JSON?
    var record: JSON?
    var rows: JSON?
    var dropped: JSON?
    /// The request that continues; a list has one for each call of `next`.
    var request: JSON?
    /// The value that a codec's hook returns, and the value that the other hook makes of that.
    var value: JSON?
    var back: JSON?
    var response: JSON?
    var log: JSON?
    var values: JSON?
    var fuel: Int?
    var error: String?

    init(_ place: JSONPlace) throws(SluiceError) {
        let members = try place.members([
            "decision", "record", "page", "request", "response", "log", "kv", "fuel_max", "error", "value", "back",
        ])
        decision = members["decision"]?.value
        record = members["record"]?.value
        if let page = members["page"] {
            let parts = try page.members(["rows", "dropped"])
            rows = parts["rows"]?.value
            dropped = parts["dropped"]?.value
        }
        if let request = members["request"] {
            for part in request.value.kind == .array ? try request.items(upTo: 64) : [request] {
                _ = try part.members(["method", "url", "path", "headers", "body"])
            }
            self.request = request.value
        }
        if let response = members["response"] {
            _ = try response.members(["status", "headers", "body"])
            self.response = response.value
        }
        value = members["value"]?.value
        back = members["back"]?.value
        log = members["log"]?.value
        values = members["kv"]?.value
        fuel = try members["fuel_max"]?.integer(in: 1...Int.max)
        error = try members["error"]?.choice(of: PluginFailure.Kind.allCases.map(\.rawValue))
    }

    /// The expectations that a filter in Swift can meet too: those of an exchange.
    var ofExchange: FixtureExpectation {
        var expectation = self
        (expectation.decision, expectation.log, expectation.values, expectation.fuel) = (nil, nil, nil, nil)
        return expectation
    }
}
