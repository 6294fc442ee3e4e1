internal import SluiceBase

/// The settings that a probe proposes, as the configuration reads them.
struct ProbeSettings: Sendable {
    let endpoint: String
    let dialect: String
    let table: String
    /// The number of changes in one request; nil to leave it to the server.
    var batch: Int?
    var pageSize: Int?
    /// The members of `odata`, in their order.
    var service: [(name: String, value: String)] = []
    /// The members of the table's `odata`.
    var set: [(name: String, value: String)] = []

    var lines: [String] {
        var lines = ["endpoint: \(Self.quoted(endpoint))", "dialect: \(dialect)"]
        if let batch { lines.append("batch: \(batch)") }
        if let pageSize { lines.append("limits: { page-size: \(pageSize) }") }
        if !service.isEmpty { lines.append("odata: \(Self.mapping(service))") }
        lines += ["tables:", "  \(Self.quoted(table)):" + (set.isEmpty ? " {}" : "")]
        if !set.isEmpty { lines.append("    odata: \(Self.mapping(set))") }
        return lines
    }

    private static func mapping(_ members: [(name: String, value: String)]) -> String {
        "{ \(members.map { "\($0.name): \($0.value)" }.joined(separator: ", ")) }"
    }

    /// Returns the text as YAML reads it back: JSON's string is one of YAML's.
    static func quoted(_ text: String) -> String {
        let isPlain =
            text.first?.isLetter == true
            && text.unicodeScalars.allSatisfy {
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:".unicodeScalars.contains($0)
            }
            && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(text.lowercased())
            && !text.hasSuffix(":")
        return isPlain ? text : JSON(text).description
    }
}
