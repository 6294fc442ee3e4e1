internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

struct PluginRecordCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Make fixtures of what a plugin has decided in a deployment.",
        discussion:
            "Credentials are not in the decisions. Look through the fixtures before you hand them on: records are.")

    @Argument(help: "A file of decisions, one JSON object a line.")
    var file: String

    @Argument(help: "The plugin's folder: the fixtures are written into its tests.")
    var plugin: String

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("The name that the deployment's policy had it under.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("The configuration that the plugin had, as JSON.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Fields whose values are hidden, with commas between them.", valueName: "names"))
    var hide = ""

    @Option(help: ArgumentHelp("How many fixtures at the most.", valueName: "n"))
    var limit = 100

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    func outcome() async throws -> Outcome {
        let name = try self.name ?? PluginBundle(folder: plugin).manifest.name
        let decisions = try PluginFiles.decisions(file)
        try decisions.requireDecisions(of: name)
        let recording = DecisionRecording(
            decisions, of: name, config: try PluginFiles.config(config) ?? .object,
            hiding: Set(hide.split(separator: ",").map(String.init)), limit: limit)
        try recording.write(to: plugin)
        return Outcome(recording)
    }
}
