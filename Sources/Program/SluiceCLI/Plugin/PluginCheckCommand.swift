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
