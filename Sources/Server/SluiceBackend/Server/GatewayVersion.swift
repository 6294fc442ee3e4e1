internal import SluiceCore

/// The versions of records in the gateway's answers. A record with a pending operation has the server's last version
/// and a mark of its content, so each local write makes a new version. After the push it has the server's version.
///
/// After the push a client's marked version still matches the record, so that it need not read the record before its
/// next write.
enum GatewayVersion {
    /// Returns the record with its version for the client.
    ///
    /// - Parameter stored: a record with the wires' column names.
    static func shown(_ stored: JSON, isPending: Bool) -> JSON {
        guard isPending else { return stored }
        var shown = stored
        shown[SystemColumn.version] = JSON(pending(stored))
        return shown
    }

    /// Returns the version of a record with a pending operation.
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
