internal import ArgumentParser
internal import Foundation

struct DemoCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Show the main job: two devices, no network for a while, one conflict.",
        discussion: """
            Everything happens on this machine: the backend listens on a free loopback port, the stores are in a \
            temporary folder. Ends with 0 only if all three copies of the data are equal.
            """)

    @Option(help: ArgumentHelp("How many movies; beyond the 248 real ones they are made up.", valueName: "n"))
    var rows = DemoMovies.realCount

    @Option(help: ArgumentHelp("Keep the stores in this folder.", valueName: "dir"))
    var keep: String?

    @Flag(help: "Both stores are encrypted, each with a key of its own; their files are searched for what is in them.")
    var encrypted = false

    @Option(
        help: ArgumentHelp(
            "A plugin in Lua takes part with all its hooks: its folder, or the name of one that comes with Sluice.",
            valueName: "plugin"))
    var plugin: String?

    @Option(help: ArgumentHelp("The plugins of a deployment's policy take part.", valueName: "file"))
    var policy: String?

    @Option(name: .customLong("plugin-config"), help: ArgumentHelp("The plugin's configuration.", valueName: "json"))
    var pluginConfig: String?

    @Flag(help: "Print the facts as exactly one JSON document.")
    var json = false

    func outcome() async throws -> Outcome {
        guard (DemoMovies.realCount...1_000_000).contains(rows) else {
            throw CommandFailure.usage("--rows is \(DemoMovies.realCount) to 1000000")
        }
        guard pluginConfig == nil || plugin != nil else {
            throw CommandFailure.usage("--plugin-config goes with --plugin")
        }
        guard plugin == nil || policy == nil else {
            throw CommandFailure.usage("--plugin and --policy do not go together: a policy names its plugins")
        }
        var plugins: DemoPlugins?
        if let plugin { plugins = try await DemoPlugins(plugin: plugin, config: pluginConfig) }
        if let policy { plugins = try await DemoPlugins(policy: policy) }
        let sqlite = try SQLiteProgram()
        let folder = try DemoFolder(keep: keep)
        let narrator = Narrator(isSilent: json)
        let outcome = try await folder.use { [plugins] in
            self.outcome(
                try await DemoRun(
                    rows: rows, folder: folder, narrator: narrator, sqlite: sqlite,
                    plugins: plugins, isEncrypted: encrypted
                ).run())
        }
        try narrator.checkWritten()
        return outcome
    }

    private func outcome(_ facts: DemoFacts) -> Outcome {
        var outcome = Outcome(json: facts.json, text: [])
        if let searched = facts.encryption, searched.found > 0 {
            outcome.add(CommandFailure(.fault, "readable", "the encrypted stores' files show what is in them"))
        }
        if !facts.comparison.isEqual {
            outcome.add(CommandFailure(.fault, "unequal", "the three copies are not equal", table: "movies"))
        }
        return outcome
    }
}
