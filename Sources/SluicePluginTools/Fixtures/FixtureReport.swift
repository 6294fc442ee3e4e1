public import SluiceCore
internal import SluiceLua

/// What came of all fixtures and specs of a bundle.
public struct FixtureReport: ToolReport {
    /// The plugin.
    public let plugin: String
    /// The results, in the order of the files.
    public let results: [FixtureResult]
    /// Which statements ran; nil where it was not asked for.
    public let coverage: LineCoverage?

    /// How many passed.
    public var passed: Int { results.count { $0.isPassed } }
    /// How many did not.
    public var failed: Int { results.count - passed }
    /// Whether all passed.
    public var isGood: Bool { failed == 0 }

    /// As TAP has it, with the differences after what failed.
    public var lines: [String] {
        var lines = ["# \(plugin)", "1..\(results.count)"]
        for (index, result) in results.enumerated() {
            lines.append("\(result.isPassed ? "ok" : "not ok") \(index + 1) - \(result.path): \(result.name)")
            lines += (result.differences + result.notes).map { "  # \($0)" }
        }
        if let coverage { lines += coverage.lines.map { "# \($0)" } }
        return lines + ["\(passed) passed, \(failed) failed"]
    }

    /// The same for a program.
    public var json: JSON {
        var json: JSON = [
            "plugin": JSON(plugin), "results": JSON(results.map(\.json)), "passed": JSON(passed),
            "failed": JSON(failed),
        ]
        if let coverage { json["coverage"] = coverage.json }
        return json
    }
}

extension JoinedReport {
    /// Joins the results of fixtures, with one line that counts all of them.
    public init(_ reports: [FixtureReport]) {
        let passed = reports.reduce(0) { $0 + $1.passed }
        let failed = reports.reduce(0) { $0 + $1.failed }
        self.init(reports, summary: reports.count > 1 ? "\(passed) passed, \(failed) failed" : nil)
    }
}
