package import SluiceCore

/// The keys that a device trusts, and the rule by which it takes a file for a release.
package struct PolicyTrust: Sendable {
    /// A key with the times in which it counts. A key that follows another overlaps it, so that no release falls between.
    package struct Entry: Sendable, Hashable {
        package var key: PolicyKey
        package var from: Timestamp?
        package var until: Timestamp?

        package init(_ key: PolicyKey, from: Timestamp? = nil, until: Timestamp? = nil) {
            (self.key, self.from, self.until) = (key, from, until)
        }

        /// Reads a key's file: its line, and after it `from=TIME` and `until=TIME` where the key counts for a while.
        ///
        /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file.
        package init(file path: String) throws(SluiceError) {
            (key, from, until) = try PolicyKey.entry(file: path)
        }

        func counts(at now: Timestamp) -> Bool { from.map { $0 <= now } ?? true && until.map { now < $0 } ?? true }
    }

    /// The keys.
    package var entries: [Entry]
    /// The number of different keys that have to have signed.
    package var required = 1
    /// The only name that is taken; nil for the name of the first release.
    package var name: String?

    package init(_ entries: [Entry], required: Int = 1, name: String? = nil) {
        (self.entries, self.required, self.name) = (entries, required, name)
    }

    /// The largest step from one version to the next that a device takes: nobody can use up the numbers at once.
    private static let largestStep = 1_000_000

    /// The knowledge of a device from earlier releases.
    package struct Past: Sendable, Hashable {
        /// The name of the taken releases.
        package var name: String?
        /// The highest version that was ever taken.
        package var version = 0
        /// The digests of that version's parts.
        package var digests: [String: String] = [:]
        /// The ids of the keys that a release has revoked.
        package var revoked: Set<String> = []
        /// The latest beginning of a taken release's validity: it is later than that, whatever the clock says.
        package var latest: Timestamp?
        /// The versions that this device has withdrawn, with the reason.
        package var withdrawn: [Int: String] = [:]

        package init() {}

        /// Notes a release that is taken.
        mutating func note(_ release: PolicyRelease) {
            (name, version, digests) = (release.name, release.version, release.digests)
            revoked.formUnion(release.revokes)
            latest = [latest, release.validFrom].compactMap(\.self).max()
        }

        /// Notes that a version is withdrawn. The newest are enough: older ones are refused for their number.
        mutating func withdraw(_ version: Int, _ reason: String) {
            withdrawn[version] = String(reason.prefix(200))
            while withdrawn.count > 16, let oldest = withdrawn.keys.min() { withdrawn[oldest] = nil }
        }
    }

    /// Returns the release of a file for that device.
    ///
    /// - Throws: ``PolicyRefusal``. The order of the checks matters: nothing of the content is judged before the
    ///   signatures are.
    package func release(
        from bytes: [UInt8], for device: PolicyDeviceName, at clock: Timestamp, after past: Past
    ) throws(PolicyRefusal) -> PolicyRelease {
        let now = max(clock, past.latest ?? clock)
        let file = try SignedRelease(bytes: bytes)
        let trusted = entries.filter { $0.counts(at: now) && !past.revoked.contains($0.key.id) }.map(\.key)
        let signers = try file.signers(among: trusted)
        guard signers.count >= max(1, required) else {
            throw PolicyRefusal(
                .untrusted,
                "\(signers.count) of the signatures are by keys that this device trusts now; \(max(1, required)) have to be"
            )
        }
        let release = try file.unverified()
        // A key cannot take itself out, or a thief would have the last word.
        let others = Set(signers.map(\.id)).subtracting(release.revokes)
        guard release.revokes.isEmpty || others.count >= max(1, required) else {
            throw PolicyRefusal(.untrusted, "the release revokes a key that has to sign it")
        }
        try check(release, for: device, at: now, after: past)
        return release
    }

    private func check(
        _ release: PolicyRelease, for device: PolicyDeviceName, at now: Timestamp, after past: Past
    ) throws(PolicyRefusal) {
        let (name, version) = (release.name, release.version)
        if let expected = self.name ?? past.name, name != expected {
            throw PolicyRefusal(.otherName, "the release is of \(PlainName.shown(name)), not of \(expected)")
        }
        if let reason = past.withdrawn[version] {
            throw PolicyRefusal(.withdrawn, "version \(version) was withdrawn here: \(reason)")
        }
        guard version >= past.version else {
            throw PolicyRefusal(.older, "version \(version) is older than \(past.version), which was taken here")
        }
        guard past.version == 0 || version - past.version <= Self.largestStep else {
            throw PolicyRefusal(
                .otherContent,
                "version \(version) is more than \(Self.largestStep) above \(past.version), which was taken here")
        }
        guard version > past.version || past.digests == release.digests else {
            throw PolicyRefusal(.otherContent, "version \(version) has another content than the one taken here")
        }
        if let from = release.validFrom, now < from {
            throw PolicyRefusal(.early, "the release is valid from \(from)")
        }
        if let until = release.validUntil, now >= until {
            throw PolicyRefusal(.expired, "the release was valid until \(until)")
        }
        // A device that has taken it keeps it, also if a later file of the same version is for fewer.
        if version > past.version, let reason = release.audience.refusal(of: device, name, version) {
            throw PolicyRefusal(.forOthers, reason)
        }
    }
}

/// Names from releases in messages.
enum PlainName {
    /// Returns the name with everything but plain characters replaced.
    static func shown(_ name: String) -> String {
        String(name.unicodeScalars.prefix(64).map { $0.value > 0x20 && $0.value < 0x7F ? Character($0) : "?" })
    }
}
