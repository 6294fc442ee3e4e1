internal import CSluiceCommit

/// The version of Sluice, for other programs and for people.
package enum SluiceVersion {
    /// The version, by the rules of semantic versioning. `.ci/version` writes it here and wherever else it stands.
    package static let text = "0.1.0"

    /// The version and the first twelve digits of the commit that a release was built from: `0.1.0 (6472da436e98)`.
    /// Other builds do not know their commit: `0.1.0 (commit unknown)`.
    package static let full = full(commit: String(cString: csluice_commit()))

    /// Returns the version and a commit, which is empty where it is unknown.
    package static func full(commit: String) -> String {
        "\(text) (\(commit.isEmpty ? "commit unknown" : String(commit.prefix(12))))"
    }
}
