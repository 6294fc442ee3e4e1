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

    /// The lines of all.
    public var lines: [String] { reports.flatMap(\.lines) + (summary.map { [$0] } ?? []) }
    /// One report as it is; several as a list.
    public var json: JSON {
        if reports.count == 1, let only = reports.first { return only.json }
        return ["plugins": JSON(reports.map(\.json)), "good": JSON(isGood)]
    }
    /// Whether all are good.
    public var isGood: Bool { reports.allSatisfy(\.isGood) }
}

/// What a tool for authors has found: for a person, and for a program.
public protocol ToolReport: Sendable {
    /// Lines for a person.
    var lines: [String] { get }
    /// The same for a program.
    var json: JSON { get }
    /// Whether all is as it should be.
    var isGood: Bool { get }
}
