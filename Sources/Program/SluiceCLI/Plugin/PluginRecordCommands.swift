internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

struct PluginNewCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Begin a plugin: manifest, script, README, fixtures, and what editors need.")

    @Argument(help: "The folder to make; its last part is the plugin's name, such as movie-merge.")
    var folder: String

    @Option(help: "What it does: \(ScaffoldKind.allCases.map(\.rawValue).joined(separator: ", ")).")
    var kind = ScaffoldKind.conflict.rawValue

    @OptionGroup var tableOptions: PluginTableOptions

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    func outcome() async throws -> Outcome {
        guard let kind = ScaffoldKind(rawValue: kind) else {
            let kinds = ScaffoldKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure.usage("there is no kind \(kind); there are \(kinds)")
        }
        let name = URL(fileURLWithPath: folder).lastPathComponent
        let scaffold = try PluginScaffold(name: name, kind: kind, tables: try PluginFiles.tables(tableOptions.tables))
        try scaffold.write(to: folder)
        let paths = scaffold.files.keys.sorted()
        return Outcome(
            json: ["plugin": JSON(name), "folder": JSON(folder), "files": JSON(paths.map { JSON($0) })],
            text: paths.map { "\(folder)/\($0)" } + ["try it: sluice plugin test \(folder)"])
    }
}

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
