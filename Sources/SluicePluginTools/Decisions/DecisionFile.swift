internal import Foundation
public import SluiceCore
public import SluiceLua

/// Decisions of plugins in a file: one JSON object a line, as an application writes them down.
///
/// ```swift
/// try DecisionFile(await plugins.decisions).hiding(["email"]).append(to: "decisions.jsonl")
/// ```
///
/// What the decisions were made on is in them where ``PluginOptions/keepsInputs`` says so. Secrets and header fields
/// with credentials never are.
public struct DecisionFile: Sendable {
    /// The decisions, in the order of the file.
    public private(set) var decisions: [PluginDecision]

    /// A file of those decisions.
    public init(_ decisions: [PluginDecision]) { self.decisions = decisions }

    /// Reads a file.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the line.
    public init(path: String) throws(SluiceError) {
        decisions = []
        let lines = try AuthorFolder.read(path).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty {
            let place = "\(path):\(index + 1)"
            guard let json = try? JSON(parsing: line) else {
                throw SluiceError(.invalidArgument, "\(place): the line is not JSON")
            }
            decisions.append(try PluginDecision(json, document: place))
        }
    }

    /// The same without the values of fields of those names, wherever they are; in bodies too, where those are JSON.
    public func hiding(_ fields: Set<PropertyName>) -> DecisionFile {
        DecisionFile(decisions.map { $0.hiding(fields) })
    }

    /// The file's text.
    public var text: String { decisions.map { "\($0.json)\n" }.joined() }

    /// Writes the decisions after what the file has.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` where that cannot be done.
    public func append(to path: String) throws(SluiceError) {
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        guard let file = FileHandle(forWritingAtPath: path) else {
            throw SluiceError(.invalidArgument, "\(path) cannot be written")
        }
        do {
            try file.seekToEnd()
            try file.write(contentsOf: Data(text.utf8))
            try file.close()
        } catch {
            throw SluiceError(.invalidArgument, "\(path) cannot be written: \(error.localizedDescription)")
        }
    }

    /// Refuses the name of a plugin that has decided nothing.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that says whose decisions there are.
    public func requireDecisions(of plugin: String) throws(SluiceError) {
        let names = Set(decisions.map(\.plugin))
        guard !names.contains(plugin) else { return }
        guard !names.isEmpty else { throw SluiceError(.invalidArgument, "there are no decisions") }
        throw SluiceError(
            .invalidArgument,
            "there is no decision of \(plugin), only of \(names.sorted().joined(separator: ", ")): --as says the name")
    }

    /// The decision with that number, or the last one about that record.
    public func decision(_ key: String) -> PluginDecision? {
        decisions.last { String($0.sequence) == key } ?? decisions.last { $0.recordID == RecordID(key) }
    }
}
