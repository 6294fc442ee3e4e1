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

    /// A file of decisions. Standard error gets a note where its last line is only a part of one.
    static func decisions(_ path: String) throws -> DecisionFile {
        let file = try DecisionFile(path: path)
        if let line = file.tornLine {
            StandardStream.tell(
                line: Plain.line("sluice: \(path):\(line): the last line is only a part of one, and is skipped"))
        }
        return file
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
