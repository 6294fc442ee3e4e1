internal import SluiceCore

/// The meaning of a text in a configuration.
package enum ConfigFormat: String, Sendable, CaseIterable {
    /// The name of a secret that the host holds; refusals never show it, in case it is the secret itself.
    case secret
    /// The name of a table.
    case table
    /// A length of time, which the script gets as seconds.
    case duration
    /// An address that begins with `http://` or `https://`.
    case uri

    /// The end of a refusal: the expected kind of text.
    var expectation: String {
        switch self {
        case .secret: "the name of a secret: letters, digits, \".\", \"-\" and \"_\", at most 128"
        case .table: "the name of a table"
        case .duration: "a length of time such as \"250ms\", \"30s\", \"5m\", \"2h\" or \"7d\""
        case .uri: "an address such as \"https://example.com/path\""
        }
    }

    /// Returns the value for the script; nil if the text is not of the format.
    func read(_ text: String) -> JSON? {
        switch self {
        case .secret: return Self.isSecretName(text) ? JSON(text) : nil
        case .table: return IDRules.isValid(id: text) ? JSON(text) : nil
        case .uri: return Self.isAddress(text) ? JSON(text) : nil
        case .duration:
            guard let milliseconds = DurationText.duration(text).map({ $0.wholeNanoseconds / 1_000_000 }) else {
                return nil
            }
            return milliseconds % 1_000 == 0 ? JSON(milliseconds / 1_000) : JSON(Double(milliseconds) / 1_000)
        }
    }

    /// Whether the text can be the name of a secret.
    static func isSecretName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 128
            && text.unicodeScalars.allSatisfy {
                $0.isASCII && (ScalarRanges.word.contains($0.value) || ".-".unicodeScalars.contains($0))
            }
    }

    private static func isAddress(_ text: String) -> Bool {
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return false }
        guard !text.contains(where: { "\"<>\\^`{|}".contains($0) }) else { return false }
        guard let authority = authority(of: text) else { return false }
        return !authority.isEmpty && !authority.contains("@") && authority.first != ":"
    }

    /// Returns host and port of an address, in small letters; nil if it is neither `http` nor `https`.
    static func authority(of address: String) -> String? {
        let address = address.lowercased()
        guard let scheme = ["http://", "https://"].first(where: address.hasPrefix) else { return nil }
        return String(address.dropFirst(scheme.count).prefix { !"/?#".contains($0) })
    }
}
