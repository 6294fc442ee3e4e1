/// Which Sluice this is, for those on the other side and for people.
package enum SluiceVersion {
    /// The version, by the rules of semantic versioning.
    package static let text = "0.1.0"
}
