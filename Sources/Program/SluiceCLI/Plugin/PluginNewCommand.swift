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
