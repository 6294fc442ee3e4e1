internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

/// The commands for authors and operators of Lua plugins. They need neither a store nor a server.
struct PluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin", abstract: "Write, test and look after plugins in Lua.",
        discussion: "A plugin is a folder with a manifest and a Lua script. Ends with 1 where a check or a test fails.",
        groupedSubcommands: [
            CommandGroup(
                name: "Write", subcommands: [PluginNewCommand.self, PluginStubsCommand.self, PluginPackCommand.self]),
            CommandGroup(
                name: "Test",
                subcommands: [
                    PluginCheckCommand.self, PluginTestCommand.self, PluginConvergeCommand.self,
                    PluginBenchCommand.self,
                ]),
            CommandGroup(
                name: "Deploy",
                subcommands: [
                    PluginOrderCommand.self, PluginExplainCommand.self, PluginRecordCommand.self,
                    PluginReplayCommand.self,
                ]),
        ])
}

struct PluginPackCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "pack",
        abstract: "Put a plugin into one file, the same bytes on every machine, and print its hash.")

    @OptionGroup var target: PluginTargetOptions

    @Option(help: ArgumentHelp("The folder to put it into.", valueName: "folder"))
    var into = "."

    func outcome() async throws -> Outcome {
        var packs: [JSON] = []
        var lines: [String] = []
        for bundle in try target.bundles {
            let report = await PluginCheck.run(bundle)
            guard report.isGood else { return Outcome(report) }
            let pack = try PluginPack(bundle)
            let path = try pack.write(to: into)
            packs.append(["path": JSON(path), "sha256": JSON(pack.hash), "bytes": JSON(pack.bytes.count)])
            lines.append("\(pack.hash)  \(path)")
        }
        return Outcome(json: ["packs": JSON(packs)], text: lines)
    }
}
