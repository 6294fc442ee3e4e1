internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

/// The common options of the commands for plugins.
struct PluginTargetOptions: ParsableArguments {
    @Argument(help: "Plugins' folders, folders of plugins, or a deployment's policy (.yaml).")
    var paths = ["."]

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    /// The plugins at the paths, those of a policy with its settings.
    var subjects: [(bundle: PluginBundle, plan: PluginPlan?)] {
        get throws { try paths.flatMap { try PluginTarget($0).subjects } }
    }

    /// The plugins without a policy's settings.
    var bundles: [PluginBundle] { get throws { try paths.flatMap { try PluginTarget($0).bundles } } }
}

/// The tables of a deployment.
struct PluginTableOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A configuration of sync whose tables are declared.", valueName: "file"))
    var tables: String?
}
