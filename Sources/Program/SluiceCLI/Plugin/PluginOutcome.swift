internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluiceDaemon
internal import SluiceLua
internal import SluicePluginTools

extension Outcome {
    /// Reports a tool's findings; the process ends with 1 if the check failed.
    init(_ report: any ToolReport) {
        self.init(
            json: report.json, text: report.lines.map { Plain.line($0) }, status: report.isGood ? .done : .fault)
    }
}

/// Files that the commands for plugins read.
enum PluginFiles {
    /// Reads a plugin's configuration from a JSON file; empty if there is none.
    static func config(_ path: String?) throws -> JSON? {
        try path.map { try JSON(parsing: InputArgument.read($0)) }
    }

    /// Reads a file of decisions. Standard error gets a note if its last line is incomplete.
    static func decisions(_ path: String) throws -> DecisionFile {
        let name = InputArgument.name(of: path)
        let file =
            try path == "-"
            ? DecisionFile(lines: InputArgument.read(path), name: name) : DecisionFile(path: path)
        if let line = file.tornLine {
            StandardStream.tell(
                line: Plain.line("sluice: \(name):\(line): the last line is only a part of one, and is skipped"))
        }
        return file
    }

    /// Reads the tables of a configuration of `sync`.
    static func tables(_ path: String?) throws -> [TableSchema] {
        try path.map { path in
            let file = try SettingsFile(path: path)
            return try ClientSettings(
                file, Settings(file, environment: [:]), endpoint: file.endpoints.first ?? "", environment: [:]
            ).tables
        } ?? []
    }
}

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
