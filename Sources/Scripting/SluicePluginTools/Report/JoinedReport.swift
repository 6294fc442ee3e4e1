public import SluiceCore
internal import SluiceLua

/// Reports of several plugins as one.
public struct JoinedReport: ToolReport {
    /// The reports.
    public let reports: [any ToolReport]
    private let summary: String?

    /// Joins reports; `summary` is a last line about all of them.
    public init(_ reports: [any ToolReport], summary: String? = nil) {
        self.reports = reports
        self.summary = summary
    }

    /// The lines of all reports.
    public var lines: [String] { reports.flatMap(\.lines) + (summary.map { [$0] } ?? []) }
    /// The JSON of a single report; several as a list.
    public var json: JSON {
        if reports.count == 1, let only = reports.first { return only.json }
        return ["plugins": JSON(reports.map(\.json)), "good": JSON(isGood)]
    }
    /// Whether all reports are good.
    public var isGood: Bool { reports.allSatisfy(\.isGood) }
}

/// The result of a tool for authors, for people and for programs.
public protocol ToolReport: Sendable {
    /// Lines for a person.
    var lines: [String] { get }
    /// The report as JSON.
    var json: JSON { get }
    /// Whether the tool found no fault.
    var isGood: Bool { get }
}
