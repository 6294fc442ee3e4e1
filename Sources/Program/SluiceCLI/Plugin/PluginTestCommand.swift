internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

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
