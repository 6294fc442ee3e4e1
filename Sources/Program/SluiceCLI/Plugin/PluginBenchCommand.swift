internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

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
