/// The reason why a device does not take a release. The serving policy stays.
package struct PolicyRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a refusal, as counted and reported.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It is larger than the limit.
        case tooLarge = "too_large"
        /// It is no whole release: cut, changed on the way, or something else.
        case notWhole = "not_whole"
        /// It is of a later form of file, or needs a later version of Sluice.
        case tooNew = "too_new"
        /// It has no signature.
        case unsigned
        /// Too few of its signatures are by keys that this device trusts now.
        case untrusted
        /// A signature that names a trusted key is not by it.
        case forged
        /// It is of another name.
        case otherName = "other_name"
        /// It is for devices with other labels, or for a share without this one.
        case forOthers = "for_others"
        /// Its time has not begun.
        case early
        /// Its time is over.
        case expired
        /// It is older than one that this device has taken.
        case older
        /// Another content has the version that this device has taken.
        case otherContent = "other_content"
        /// It was withdrawn by this device after a trial or in its probation.
        case withdrawn
        /// Its policy or a plugin is invalid, or a fixture fails.
        case invalid
        /// A plugin asks for more than the deployment grants.
        case notGranted = "not_granted"

        /// Whether the same file may be taken later: a time begins, of the file or of a key.
        package var mayPass: Bool { self == .early || self == .untrusted }
    }

    /// The kind.
    package let kind: Kind
    /// The reason, for a person.
    package let reason: String

    package init(_ kind: Kind, _ reason: String) { (self.kind, self.reason) = (kind, reason) }

    package var description: String { reason }
}
