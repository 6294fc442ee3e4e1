/// The version of Sluice, for other programs and for people.
package enum SluiceVersion {
    /// The version, by the rules of semantic versioning.
    package static let text = "0.1.0"
}
