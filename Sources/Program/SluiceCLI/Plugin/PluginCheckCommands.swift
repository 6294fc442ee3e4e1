internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

struct PluginCheckCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Look plugins over: manifest, script, names, permissions, fixtures, sandbox.",
        discussion: "Of a policy it checks the file, the configuration of each plugin, and the order of the chains too."
    )

    @OptionGroup var target: PluginTargetOptions

    func outcome() async throws -> Outcome {
        var reports: [any ToolReport] = []
        for path in target.paths {
            if path.hasSuffix(".yaml") || path.hasSuffix(".yml") {
                let policy = try PluginPolicy(file: path)
                try policy.check()
                for plan in policy.plans { reports.append(await PluginCheck.run(plan.bundle)) }
            } else {
                for folder in try PluginTarget.folders(path) { reports.append(await PluginCheck(folder: folder).run()) }
            }
        }
        return Outcome(JoinedReport(reports))
    }
}

struct PluginTestCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Run the fixtures of plugins, in a world that is faked whole.")

    @OptionGroup var target: PluginTargetOptions
    @OptionGroup var tableOptions: PluginTableOptions

    @Option(help: ArgumentHelp("Only what has this in its path or name.", valueName: "text"))
    var filter: String?

    @Flag(help: "Say which statements ran.")
    var coverage = false

    func outcome() async throws -> Outcome {
        let tables = try PluginFiles.tables(tableOptions.tables)
        var reports: [FixtureReport] = []
        for (bundle, plan) in try target.subjects {
            var runner = FixtureRunner(bundle)
            runner.tables = tables
            runner.plan = plan
            runner.filter = filter
            runner.measuresCoverage = coverage
            reports.append(await runner.run())
        }
        return Outcome(JoinedReport(reports))
    }
}

struct PluginBenchCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measure what each hook costs over the fixtures: fuel, time, memory.",
        discussion: "Ends with 1 where a fixture does not pass, or uses more than four fifths of the fuel it may.")

    @OptionGroup var target: PluginTargetOptions

    @Option(help: ArgumentHelp("How often each fixture is run.", valueName: "n"))
    var rounds = 20

    func outcome() async throws -> Outcome {
        var reports: [any ToolReport] = []
        for (bundle, plan) in try target.subjects {
            reports.append(await PluginBench(bundle, rounds: rounds, in: plan).run())
        }
        return Outcome(JoinedReport(reports))
    }
}

struct PluginOrderCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "order",
        abstract: "Print the chains of a deployment in their order, and why each link is where it is.")

    @Argument(help: "The deployment's policy.")
    var policy: String

    @Option(help: ArgumentHelp("The table that a call is about.", valueName: "name"))
    var table: String?

    @Option(help: ArgumentHelp("Its HTTP method.", valueName: "method"))
    var method: String?

    @Option(help: ArgumentHelp("The host that it goes to.", valueName: "name"))
    var host: String?

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    func outcome() async throws -> Outcome {
        Outcome(try OrderReport(try PluginPolicy(file: policy), table: table, method: method, host: host))
    }
}

struct PluginStubsCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "stubs",
        abstract: "Write what editors need to know of the plugin API and of a deployment's tables.")

    @Argument(help: "The plugin's folder.")
    var folder = "."

    @OptionGroup var tableOptions: PluginTableOptions

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    func outcome() async throws -> Outcome {
        let stubs = PluginStubs(tables: try PluginFiles.tables(tableOptions.tables))
        try stubs.write(to: folder)
        let paths = stubs.files.keys.sorted()
        return Outcome(
            json: ["files": JSON(paths.map { JSON($0) })], text: paths.map { "\(folder)/\($0)" })
    }
}
