internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

struct PluginFuzzCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "fuzz",
        abstract: "Give plugins what nobody expects: odd records, odd answers, hostile configurations.",
        discussion: "It begins with the fixtures. Ends with 1 where a plugin ran into an error that is not its own.")

    @OptionGroup var target: PluginTargetOptions
    @OptionGroup var tableOptions: PluginTableOptions

    @Option(help: ArgumentHelp("What chance begins with.", valueName: "seed"))
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("How many calls.", valueName: "n"))
    var calls = 500

    @Option(help: ArgumentHelp("How many configurations.", valueName: "n"))
    var configurations = 200

    func outcome() async throws -> Outcome {
        let tables = try PluginFiles.tables(tableOptions.tables)
        var reports: [any ToolReport] = []
        for (bundle, plan) in try target.subjects {
            var fuzz = PluginFuzz(bundle)
            fuzz.tables = tables
            fuzz.plan = plan
            fuzz.seed = seed
            fuzz.calls = calls
            fuzz.configurations = configurations
            reports.append(await fuzz.run())
        }
        return Outcome(JoinedReport(reports))
    }
}
