internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

struct PluginProfileCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile", abstract: "Say on which lines the fixtures spend their fuel.")

    @OptionGroup var target: PluginTargetOptions

    @Option(help: ArgumentHelp("Only fixtures that have this in their path or name.", valueName: "text"))
    var filter: String?

    func outcome() async throws -> Outcome {
        var reports: [any ToolReport] = []
        for (bundle, plan) in try target.subjects {
            reports.append(await PluginProfile(bundle, filter: filter, in: plan))
        }
        return Outcome(JoinedReport(reports))
    }
}
