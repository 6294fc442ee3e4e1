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
///
/// The number of a line addresses one decision. ``PluginDecision/sequence`` does not: each process counts from 1, and
/// several write to one file after each other.
public struct DecisionFile: Sendable {
    /// A decision and its place in the file.
    public struct Line: Sendable {
        /// The number of the line, counted from 1.
        public let number: Int
        /// The decision.
        public let decision: PluginDecision
    }

    /// The decisions with their places, in the order of the file.
    public let lines: [Line]
    /// The number of the last line, if it is only a part of one: its process was killed while it wrote. It is not among
    /// ``lines``.
    public let tornLine: Int?

    /// The decisions, in the order of the file.
    public var decisions: [PluginDecision] { lines.map(\.decision) }

    /// A file of those decisions.
    public init(_ decisions: [PluginDecision]) {
        self.init(decisions.enumerated().map { Line(number: $0.offset + 1, decision: $0.element) })
    }

    private init(_ lines: [Line], tornLine: Int? = nil) {
        self.lines = lines
        self.tornLine = tornLine
    }

    /// Reads a file. A last line without its end that is no decision is left out: see ``tornLine``.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the line.
    public init(path: String) throws(SluiceError) {
        let parts = try AuthorFolder.read(path).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var lines: [Line] = []
        // What comes after the last end of a line: a line without its end, or nothing.
        var tornLine: Int?
        for (index, part) in parts.enumerated() where !part.isEmpty {
            do {
                lines.append(Line(number: index + 1, decision: try Self.decision(part, "\(path):\(index + 1)")))
            } catch {
                guard index == parts.count - 1 else { throw error }
                tornLine = index + 1
            }
        }
        self.init(lines, tornLine: tornLine)
    }

    private static func decision(_ line: ArraySlice<UInt8>, _ place: String) throws(SluiceError) -> PluginDecision {
        guard let json = try? JSON(parsing: line) else {
            throw SluiceError(.invalidArgument, "\(place): the line is not JSON")
        }
        return try PluginDecision(json, document: place)
    }

    /// The same without the values of fields of those names, wherever they are; in bodies too, where those are JSON.
    public func hiding(_ fields: Set<PropertyName>) -> DecisionFile {
        DecisionFile(
            lines.map { Line(number: $0.number, decision: $0.decision.hiding(fields)) }, tornLine: tornLine)
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

    /// All decisions about a record, in the order of the file.
    ///
    /// - Parameter record: its id, or `TABLE/ID`.
    public func lines(about record: String) -> [Line] {
        lines.filter { line in
            guard let id = line.decision.recordID else { return false }
            return id == RecordID(record)
                || line.decision.table.map { RecordID("\($0)/\(id)") == RecordID(record) } ?? false
        }
    }

    /// The decision on that line of the file.
    public func line(_ number: Int) -> Line? { lines.first { $0.number == number } }
}
