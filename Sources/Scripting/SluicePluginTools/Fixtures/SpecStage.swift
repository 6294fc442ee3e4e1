internal import SluiceCore
internal import SluiceLua

/// The plugins that a spec has loaded, each in its own world, until its `it` ends.
actor SpecStage {
    /// The maximum number of plugins that one `it` may load, each with its own machine: a spec runs in the daemon too.
    private static let mostPlugins = 16

    private let bundle: PluginBundle
    private let dialect: Dialect
    private let tables: [TableSchema]
    private var rigs: [PluginRig] = []
    /// The fuel by line of the plugins.
    private(set) var spent: [String: Int] = [:]

    init(_ bundle: PluginBundle, dialect: Dialect, tables: [TableSchema]) {
        self.bundle = bundle
        self.dialect = dialect
        self.tables = tables
    }

    /// Answers `spec.load` and `spec.ask`.
    func perform(_ function: String, _ arguments: JSON) async -> HostReply {
        do {
            return .value(
                function == "spec.load" ? try await load(arguments[0] ?? .object) : try await ask(arguments))
        } catch let failure as PluginFailure {
            return .failure("\(failure)")
        } catch {
            return .failure((error as? SluiceError)?.message ?? "\(error)")
        }
    }

    /// Releases the plugins.
    func clear() async {
        for rig in rigs {
            for (line, fuel) in await rig.host.takeProfile(of: rig.id).members ?? [] {
                spent[line.text, default: 0] += Int(fuel.int ?? 0)
            }
        }
        rigs = []
    }

    /// Loads the plugin with the members of a fixture: `config`, `deployment`, `host`.
    private func load(_ options: JSON) async throws -> JSON {
        guard rigs.count < Self.mostPlugins else {
            throw SluiceError(.limitReached, "a test loads a plugin \(Self.mostPlugins) times at most")
        }
        _ = try JSONPlace(options, in: "plugin").members(["config", "deployment", "host"])
        var json = options
        (json["name"], json["hook"], json["expect"]) = ("plugin", "init", .object)
        let fixture = try PluginFixture(json, path: "plugin")
        let plan = try PluginPlan(bundle, config: fixture.config, deployment: fixture.deployment)
        let rig = try await PluginRig(plan, FixtureWorld(fixture.world))
        await rig.host.startProfile(of: rig.id)
        rigs.append(rig)
        return JSON(rigs.count - 1)
    }

    /// Calls a hook. The arguments are the plugin's number, the hook, `given`, and additions to its world.
    private func ask(_ arguments: JSON) async throws -> JSON {
        guard let number = arguments[0]?.int, rigs.indices.contains(Int(number)),
            let hook = arguments[1]?.string.flatMap({ HookKind(rawValue: $0) })
        else { throw SluiceError(.invalidArgument, "the plugin is of another test: load it in this one") }
        let rig = rigs[Int(number)]
        guard let plan = rig.plan.hooks[hook], hook != .initialize else {
            throw SluiceError(.invalidArgument, "the plugin has no hook \(hook.rawValue) to call")
        }
        let around = JSONPlace(arguments[3] ?? .object, in: hook.rawValue)
        let news = try around.members(["clock", "http", "next"])
        rig.world.goOn(with: try FixtureWorld.Script(around), setsClock: news["clock"] != nil)
        let given = JSONPlace(arguments[2] ?? .object, in: hook.rawValue)
        let table = given.value.members?.lazy.compactMap { $0.value["table"]?.string }.first
        let call = try FixtureCall(
            plan, given: given, dialect: dialect, now: rig.world.now, schema: tables.first { $0.name == table },
            plan: rig.plan, secrets: rig.secrets, world: rig.world
        ).call()
        let run = await rig.run(call)
        if let fault = rig.world.faults.first { throw SluiceError(.invalidArgument, fault) }
        return SpecAnswer.document(run, sent: rig.world.takeSent(), values: rig.world.values)
    }
}

/// A hook's answer as a spec sees it, with the member names of a fixture's `expect`.
enum SpecAnswer {
    static func document(
        _ run: PluginRig.Run, sent: some BidirectionalCollection<Request>, values: [String: JSON]
    ) -> JSON {
        let answer = run.answer?.value as? FixtureAnswer
        var document: JSON = [
            "answer": JSON(run.failure == nil ? run.answer?.name ?? "none" : "failed"), "fuel": JSON(run.cost.fuel),
            "log": JSON(
                run.log.map { line in
                    var json: JSON = ["level": JSON(line.level), "message": JSON(line.message)]
                    json["fields"] = line.fields
                    return json
                }),
            "kv": JSON(
                members: values.sorted { $0.key < $1.key }.compactMap { key, saved in
                    saved["v"].map { (key, $0) }
                }),
        ]
        if let failure = run.failure {
            document["error"] = ["kind": JSON(failure.kind.rawValue), "message": JSON(failure.message)]
        }
        document["decision"] = answer?.decision
        document["record"] = answer?.record
        if let rows = answer?.rows { document["page"] = ["rows": rows, "dropped": answer?.dropped ?? .object] }
        document["request"] = (answer?.request ?? sent.last).map(self.request)
        if !sent.isEmpty { document["sent"] = JSON(sent.map(self.request)) }
        document["response"] = answer?.response.map(ExchangeDocument.response)
        return document
    }

    private static func request(_ request: Request) -> JSON {
        var json = ExchangeDocument.request(request)
        json["url"] = JSON(RequestDocument.url(of: request.head))
        return json
    }
}
