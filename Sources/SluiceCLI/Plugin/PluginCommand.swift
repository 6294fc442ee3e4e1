internal import ArgumentParser

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
                    PluginFuzzCommand.self,
                ]),
            CommandGroup(name: "Measure", subcommands: [PluginBenchCommand.self, PluginProfileCommand.self]),
            CommandGroup(
                name: "Deploy",
                subcommands: [
                    PluginOrderCommand.self, PluginExplainCommand.self, PluginRecordCommand.self,
                    PluginReplayCommand.self,
                ]),
        ])
}
