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

/// JSON for people: a value that fits on one line gets one, and a longer one has a line for each part.
enum JSONLayout {
    private static let width = 100

    /// Returns the text, with a line end.
    static func text(_ value: JSON) -> String { lines(value, indent: 0, after: "") + "\n" }

    private static func lines(_ value: JSON, indent: Int, after name: String) -> String {
        let short = flat(value)
        if indent + name.utf8.count + short.utf8.count <= width, indent > 0 || value.count == 0 { return short }
        let inner = String(repeating: " ", count: indent + 2)
        let outer = String(repeating: " ", count: indent)
        if let elements = value.elements, !elements.isEmpty {
            let parts = elements.map { inner + lines($0, indent: indent + 2, after: "") }
            return "[\n\(parts.joined(separator: ",\n"))\n\(outer)]"
        }
        if let members = value.members, !members.isEmpty {
            let parts = members.map { name, value in
                let name = "\(JSON(name)): "
                return inner + name + lines(value, indent: indent + 2, after: name)
            }
            return "{\n\(parts.joined(separator: ",\n"))\n\(outer)}"
        }
        return short
    }

    private static func flat(_ value: JSON) -> String {
        if let elements = value.elements, !elements.isEmpty {
            return "[\(elements.map(flat).joined(separator: ", "))]"
        }
        if let members = value.members, !members.isEmpty {
            return "{ \(members.map { "\(JSON($0)): \(flat($1))" }.joined(separator: ", ")) }"
        }
        return value.description
    }
}
