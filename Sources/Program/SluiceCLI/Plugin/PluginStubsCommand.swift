internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

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
