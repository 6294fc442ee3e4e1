public import SluiceCore
public import SluiceLua

/// The fuel use of a bundle's fixtures, by line.
public struct PluginProfile: ToolReport {
    /// A line with its fuel use.
    public struct Line: Sendable, Hashable {
        /// The file: `main.lua`, `lib/rules.lua`.
        public var file: String
        /// The line, from 1.
        public var line: Int
        /// The fuel used on the line.
        public var fuel: Int
        /// The line's text.
        public var text: String
    }

    /// The plugin's name.
    public let plugin: String
    /// The lines, the most expensive first.
    public let spent: [Line]
    /// The fuel of all lines.
    public let total: Int
    /// Always true: a profile has no criterion.
    public let isGood = true

    /// Runs the fixtures and specs of a bundle, and counts their fuel.
    ///
    /// - Parameter plan: the deployment's plan, if its limits and its configuration have to apply.
    public init(_ bundle: PluginBundle, filter: String? = nil, in plan: PluginPlan? = nil) async {
        var runner = FixtureRunner(bundle)
        runner.plan = plan
        runner.measuresCoverage = true
        runner.filter = filter
        let counted = await runner.spent()
        var texts: [String: [Substring]] = [:]
        for source in bundle.sources {
            texts[source.path] = String(decoding: source.text, as: UTF8.self)
                .split(separator: "\n", omittingEmptySubsequences: false)
        }
        plugin = plan?.name ?? bundle.manifest.name
        total = counted.values.reduce(0, +)
        spent = counted.compactMap { place, fuel in
            guard let colon = place.lastIndex(of: ":"), let line = Int(place[place.index(after: colon)...]) else {
                return nil
            }
            let file = String(place[..<colon])
            guard let lines = texts[file], lines.indices.contains(line - 1) else { return nil }
            let text = String(lines[line - 1].drop { $0 == " " || $0 == "\t" })
            return Line(file: file, line: line, fuel: fuel, text: text)
        }.sorted { ($0.fuel, $1.file, $1.line) > ($1.fuel, $0.file, $0.line) }
    }

    /// The twenty most expensive lines.
    public var lines: [String] {
        let shown = spent.prefix(20).map { line in
            let tenths = total == 0 ? 0 : line.fuel * 1000 / total
            return "\(tenths / 10).\(tenths % 10) %  \(line.fuel)  \(line.file):\(line.line)  \(line.text)"
        }
        return ["# \(plugin): \(total) fuel"] + shown
    }

    /// The report as JSON, with all lines.
    public var json: JSON {
        [
            "plugin": JSON(plugin), "total": JSON(total),
            "lines": JSON(
                spent.map { ["file": JSON($0.file), "line": JSON($0.line), "fuel": JSON($0.fuel)] }),
        ]
    }
}
