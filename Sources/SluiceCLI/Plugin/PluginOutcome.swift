internal import Foundation
internal import Sluice
internal import SluiceDaemon
internal import SluiceLua
internal import SluicePluginTools

extension Outcome {
    /// What a tool has found; the process ends with 1 where that is not good.
    init(_ report: any ToolReport) {
        self.init(
            json: report.json, text: report.lines.map { Plain.line($0) }, status: report.isGood ? .done : .fault)
    }
}

/// Files that the commands for plugins take.
enum PluginFiles {
    /// A plugin's configuration, from a JSON file; empty where there is none.
    static func config(_ path: String?) throws -> JSON? {
        guard let path else { return nil }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure.usage("\(path) cannot be read")
        }
        return try JSON(parsing: [UInt8](data))
    }

    /// The tables of a configuration of `sync`.
    static func tables(_ path: String?) throws -> [TableSchema] {
        try path.map { path in
            let file = try SettingsFile(path: path)
            return try ClientSettings(
                file, Settings(file, environment: [:]), endpoint: file.endpoints.first ?? "", environment: [:]
            ).tables
        } ?? []
    }
}
