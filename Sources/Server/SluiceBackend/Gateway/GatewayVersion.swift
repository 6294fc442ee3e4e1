internal import SluiceCore

/// The versions under which the gateway shows records. One that waits for the server has the server's last version and a
/// mark of its content, so each local write makes another; once the server has taken it, it has the server's.
///
/// A client whose write has reached the server meanwhile still knows the record by its mark, and need not read it again
/// before its next write.
enum GatewayVersion {
    /// The record as it is shown.
    ///
    /// - Parameter stored: a record by the names that the wires know.
    static func shown(_ stored: JSON, isPending: Bool) -> JSON {
        guard isPending else { return stored }
        var shown = stored
        shown[SystemColumn.version] = JSON(pending(stored))
        return shown
    }

    /// The version of a record that waits for the server.
    static func pending(_ stored: JSON) -> String { (stored[SystemColumn.version]?.string ?? "") + mark(of: stored) }

    /// Whether a version was shown for a record of the same content.
    static func isSame(_ version: String, as stored: JSON) -> Bool {
        version.utf8.suffix(markLength).elementsEqual(mark(of: stored).utf8)
    }

    private static let markLength = 17

    private static func mark(of stored: JSON) -> String {
        let names = stored.names.filter { !SystemColumn.all.contains($0) }.sorted()
        let parts = names.flatMap { [$0.text, (stored[$0] ?? .null).description] }
        let digits = String(Fingerprint.of(parts), radix: 16)
        return "~" + String(repeating: "0", count: markLength - 1 - digits.utf8.count) + digits
    }
}
