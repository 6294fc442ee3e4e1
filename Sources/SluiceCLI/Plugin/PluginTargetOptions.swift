internal import ArgumentParser
internal import Sluice

/// What the commands for plugins have in common.
struct PluginTargetOptions: ParsableArguments {
    @Argument(help: "A plugin's folder, a folder of plugins, or a deployment's policy (.yaml).")
    var path = "."

    @Flag(help: "Print exactly one JSON document.")
    var json = false
}

/// The tables of a deployment.
struct PluginTableOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A configuration of sync whose tables are declared.", valueName: "file"))
    var tables: String?
}
