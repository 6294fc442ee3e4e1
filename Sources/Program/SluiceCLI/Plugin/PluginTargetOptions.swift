internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

/// What the commands for plugins have in common.
struct PluginTargetOptions: ParsableArguments {
    @Argument(help: "Plugins' folders, folders of plugins, or a deployment's policy (.yaml).")
    var paths = ["."]

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    /// The plugins that the paths lead to, those of a policy as it has them.
    var subjects: [(bundle: PluginBundle, plan: PluginPlan?)] {
        get throws { try paths.flatMap { try PluginTarget($0).subjects } }
    }

    /// The same without what a policy says of them.
    var bundles: [PluginBundle] { get throws { try paths.flatMap { try PluginTarget($0).bundles } } }
}

/// The tables of a deployment.
struct PluginTableOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A configuration of sync whose tables are declared.", valueName: "file"))
    var tables: String?
}
