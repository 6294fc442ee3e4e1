internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

struct PluginReplayCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Ask a version of a plugin what another has decided, and say what changes.",
        discussion: "Ends with 1 where an answer changes.")

    @Argument(help: "A file of decisions, one JSON object a line.")
    var file: String

    @Argument(help: "The folder of the version that is asked.")
    var plugin: String

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("The name that the deployment's policy had it under.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("The configuration that it is to run with, as JSON.", valueName: "file"))
    var config: String?

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    func outcome() async throws -> Outcome {
        let bundle = try PluginBundle(folder: plugin)
        return Outcome(
            try await DecisionReplay(
                try PluginFiles.decisions(file), with: bundle, as: name,
                config: try PluginFiles.config(config) ?? .object)
        )
    }
}
