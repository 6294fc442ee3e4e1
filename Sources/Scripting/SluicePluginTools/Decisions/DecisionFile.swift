internal import Foundation
public import SluiceCore
public import SluiceLua

/// Decisions of plugins in a file: one JSON object a line, as an application writes them.
///
/// ```swift
/// try DecisionFile(await plugins.decisions).hiding(["email"]).append(to: "decisions.jsonl")
/// ```
///
/// The inputs of the decisions are included if ``PluginOptions/keepsInputs`` is true. Secrets and header fields with
/// credentials never are.
///
/// A line number identifies one decision. ``PluginDecision/sequence`` does not: each process counts from 1, and several
/// processes may write to one file in turn.
public struct DecisionFile: Sendable {
    /// A decision with its line number.
    public struct Line: Sendable {
        /// The number of the line, counted from 1.
        public let number: Int
        /// The decision.
        public let decision: PluginDecision
    }

    /// The decisions with their line numbers, in the order of the file.
    public let lines: [Line]
    /// The number of the last line if it is incomplete, because its process was killed during the write. It is not
    /// among ``lines``.
    public let tornLine: Int?

    /// The decisions, in the order of the file.
    public var decisions: [PluginDecision] { lines.map(\.decision) }

    /// Creates a file of those decisions.
    public init(_ decisions: [PluginDecision]) {
        self.init(decisions.enumerated().map { Line(number: $0.offset + 1, decision: $0.element) })
    }

    private init(_ lines: [Line], tornLine: Int? = nil) {
        self.lines = lines
        self.tornLine = tornLine
    }

    /// Reads a file. An incomplete last line that is no decision is skipped: see ``tornLine``.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the line.
    public init(path: String) throws(SluiceError) {
        try self.init(lines: AuthorFolder.read(path), name: path)
    }

    /// Reads the lines of a file of that name.
    package init(lines bytes: [UInt8], name: String) throws(SluiceError) {
        let parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var lines: [Line] = []
        // The part after the last line end is an incomplete line, or empty.
        var tornLine: Int?
        for (index, part) in parts.enumerated() where !part.isEmpty {
            do {
                lines.append(Line(number: index + 1, decision: try Self.decision(part, "\(name):\(index + 1)")))
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

    /// Returns the file with the values of those fields hidden, at any depth; in JSON bodies too.
    public func hiding(_ fields: Set<PropertyName>) -> DecisionFile {
        DecisionFile(
            lines.map { Line(number: $0.number, decision: $0.decision.hiding(fields)) }, tornLine: tornLine)
    }

    /// The text of the file.
    public var text: String { decisions.map { "\($0.json)\n" }.joined() }

    /// Appends the decisions to a file.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if it cannot be written.
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

    /// Refuses the name of a plugin without decisions.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the plugins with decisions.
    public func requireDecisions(of plugin: String) throws(SluiceError) {
        let names = Set(decisions.map(\.plugin))
        guard !names.contains(plugin) else { return }
        guard !names.isEmpty else { throw SluiceError(.invalidArgument, "there are no decisions") }
        throw SluiceError(
            .invalidArgument,
            "there is no decision of \(plugin), only of \(names.sorted().joined(separator: ", ")): --as says the name")
    }

    /// Returns all decisions about a record, in the order of the file.
    ///
    /// - Parameter record: its id, or `TABLE/ID`.
    public func lines(about record: String) -> [Line] {
        lines.filter { line in
            guard let id = line.decision.recordID else { return false }
            return id == RecordID(record)
                || line.decision.table.map { RecordID("\($0)/\(id)") == RecordID(record) } ?? false
        }
    }

    /// Returns the decision on that line of the file.
    public func line(_ number: Int) -> Line? { lines.first { $0.number == number } }
}
