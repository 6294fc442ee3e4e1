package import Sluice
package import SluicePolicy

/// A device's row in the fleet's table. It comes from the device, so that each part of it has a bound.
package struct PolicyReportRow: Sendable {
    /// The most bytes of a part that is a document, and the most characters of any other.
    private static let mostBytes = 64 << 10
    private static let mostCharacters = 500
    /// The most decisions that are kept.
    private static let mostDecisions = 100

    package let device: String
    package let name: String
    package let serving: Int?
    package let stage: String
    package let newest: Int
    package let figures: PolicyTally
    package let withdrawn: [Int: String]
    package let labels: String
    package let reportedAt: Timestamp?
    /// Whether the device has spent the bytes of its day, and reports its version and errors alone.
    package let isShort: Bool
    /// The device's newest decisions, the newest first.
    package let decisions: [JSON]

    /// Reads a row; nil if it has no id. Anything else that is missing is empty.
    package init?(_ row: JSON) {
        guard let device = row["id"]?.textID else { return nil }
        self.device = device.text
        name = Self.text(row, "name")
        serving = row["serving"]?.int.flatMap { Int(exactly: $0) }
        stage = Self.text(row, "stage")
        newest = row["newest"]?.int.flatMap { Int(exactly: $0) } ?? 0
        figures = PolicyTally(Self.document(row, "figures") ?? .object)
        var withdrawn: [Int: String] = [:]
        for (version, reason) in Self.document(row, "withdrawn")?.members ?? [] {
            if let version = Int(version.text) {
                withdrawn[version] = String((reason.string ?? "").prefix(Self.mostCharacters))
            }
        }
        self.withdrawn = withdrawn
        labels = Self.text(row, "labels")
        reportedAt = row["reportedAt"]?.string.flatMap { Timestamp($0) }
        isShort = row["short"]?.bool ?? false
        decisions = Array((Self.document(row, "decisions")?.elements ?? []).prefix(Self.mostDecisions))
    }

    private static func text(_ row: JSON, _ name: String) -> String {
        String((row[name]?.string ?? "").prefix(mostCharacters))
    }

    /// Returns the document in a text of the row; nil if there is none, or one that is too long.
    private static func document(_ row: JSON, _ name: String) -> JSON? {
        guard let text = row[name]?.string, text.utf8.count <= mostBytes else { return nil }
        return try? JSON(parsing: text)
    }

    /// Whether the device has ever taken the version.
    package func has(_ name: String, _ version: Int) -> Bool {
        self.name == name && (newest == version || serving == version || withdrawn[version] != nil)
    }

    package func hasWithdrawn(_ version: Int) -> Bool { withdrawn[version] != nil }
}
