internal import Crypto
package import SluiceCore
package import SluiceLua

/// A policy with its plugins and their fixtures as one version for many devices: the content that is signed.
package struct PolicyRelease: Sendable, Hashable {
    /// The form of the content that this version of Sluice writes, and the latest that it reads.
    static let form = 1
    /// The longest name of a release, and of a label and its value.
    private static let longestName = 128
    /// The most files of all plugins.
    private static let mostFiles = 4_096

    /// The name of the stream of versions: `shops`.
    package let name: String
    /// The number of the version: 1 or more, larger for a later one.
    package let version: Int
    /// The devices that it is for.
    package var audience = PolicyAudience()
    /// The time from which it is valid; nil from the beginning.
    package var validFrom: Timestamp?
    /// The time from which it is invalid; nil for none.
    package var validUntil: Timestamp?
    /// The ids of keys that this version revokes: signatures by them count no longer.
    package var revokes: Set<String> = []
    /// The policy in YAML.
    package let policy: String
    /// The files of each plugin, by its name in the policy and by path.
    package let plugins: [String: [String: String]]

    package init(name: String, version: Int, policy: String, plugins: [String: [String: String]]) {
        (self.name, self.version, self.policy, self.plugins) = (name, version, policy, plugins)
    }

    /// The SHA-256 of each part in hexadecimal digits: `policy`, and each plugin by name.
    package var digests: [String: String] {
        var digests = ["policy": Self.digest(JSON(policy))]
        for (name, files) in plugins { digests[name] = Self.digest(Self.json(files)) }
        return digests
    }

    /// Whether the other one has the same policy and plugins. Audience and times may differ, as between the steps of a
    /// rollout.
    package func hasSameContent(as other: PolicyRelease) -> Bool {
        name == other.name && version == other.version && digests == other.digests
    }

    /// Returns the plugins of the policy, which is read with the files of the release alone.
    ///
    /// - Parameter deployment: the device, which takes the place of the policy's deployment.
    /// - Throws: ``SluiceError`` of code `invalidArgument`.
    package func read(for deployment: Deployment? = nil) throws(SluiceError) -> PluginPolicy {
        var bundles: [String: PluginBundle] = [:]
        for (name, files) in plugins {
            bundles[name] = try PluginBundle(
                files: files.mapValues { Array($0.utf8) }, location: "\(self.name) \(version), plugin \(name)")
        }
        return try PluginPolicy(
            release: policy, named: "\(name) \(version)", bundles: bundles, deployment: deployment)
    }

    // MARK: JSON

    private static func json(_ files: [String: String]) -> JSON {
        JSON(members: files.sorted { $0.key < $1.key }.map { (PropertyName($0.key), JSON($0.value)) })
    }

    private static func digest(_ json: JSON) -> String { Base16.text(Array(SHA256.hash(data: json.bytes()))) }

    /// The release as JSON; the same bytes for the same release.
    package var bytes: [UInt8] {
        var json: JSON = ["form": JSON(Self.form), "name": JSON(name), "version": JSON(version)]
        json["labels"] = JSON(
            members: audience.labels.sorted { $0.key < $1.key }.map { (PropertyName($0.key), JSON($0.value)) })
        json["share"] = JSON(audience.share)
        json["from"] = validFrom.map { JSON($0.description) } ?? .null
        json["until"] = validUntil.map { JSON($0.description) } ?? .null
        json["revokes"] = JSON(revokes.sorted().map { JSON($0) })
        json["digests"] = JSON(
            members: digests.sorted { $0.key < $1.key }.map { (PropertyName($0.key), JSON($0.value)) })
        json["policy"] = JSON(policy)
        json["plugins"] = JSON(
            members: plugins.sorted { $0.key < $1.key }.map { (PropertyName($0.key), Self.json($0.value)) })
        return json.bytes()
    }

    /// Reads the signed content.
    package init(bytes: [UInt8]) throws(PolicyRefusal) {
        do {
            guard let json = try? JSON(parsing: bytes) else {
                throw PolicyRefusal(.notWhole, "the signed content is no JSON")
            }
            let place = JSONPlace(json, in: "release")
            guard let form = json["form"]?.int, form >= 1 else {
                throw PolicyRefusal(.notWhole, "the signed content is no release")
            }
            guard form <= Self.form else {
                throw PolicyRefusal(.tooNew, "the release has form \(form); this version reads up to \(Self.form)")
            }
            let members = try place.members([
                "form", "name", "version", "labels", "share", "from", "until", "revokes", "digests", "policy",
                "plugins",
            ])
            func member(_ name: String) throws(SluiceError) -> JSONPlace {
                guard let member = members[name] else { throw place.refusal("there is no \(name)") }
                return member
            }
            func time(_ name: String) throws(SluiceError) -> Timestamp? {
                let place = try member(name)
                if place.value.isNull { return nil }
                guard let time = place.value.string.flatMap({ Timestamp($0) }) else { throw place.expected("a time") }
                return time
            }
            name = try member("name").text(upTo: Self.longestName)
            version = try member("version").integer(in: 1...Int(Int32.max))
            for (name, value) in try member("labels").entries(upTo: 64) {
                audience.labels[name] = try value.text(upTo: Self.longestName)
            }
            audience.share = try member("share").integer(in: 0...PolicyAudience.all)
            (validFrom, validUntil) = (try time("from"), try time("until"))
            revokes = Set(try member("revokes").items(upTo: 64).map { place throws(SluiceError) in try place.text() })
            guard let policy = try member("policy").value.string else {
                throw try member("policy").expected("the policy as a text")
            }
            self.policy = policy
            var plugins: [String: [String: String]] = [:]
            var count = 0
            for (name, files) in try member("plugins").entries(upTo: 256) {
                plugins[name] = [:]
                for (path, file) in try files.entries(upTo: PluginBundle.maximumFiles) {
                    guard let text = file.value.string else { throw file.expected("a file's text") }
                    count += 1
                    guard count <= Self.mostFiles else {
                        throw file.refusal("expected at most \(Self.mostFiles) files")
                    }
                    plugins[name]?[path] = text
                }
            }
            self.plugins = plugins
            var digests: [String: String] = [:]
            for (name, value) in try member("digests").entries(upTo: 257) { digests[name] = value.value.string }
            guard digests == self.digests else {
                throw PolicyRefusal(.notWhole, "a part of the release is not the one that its manifest names")
            }
        } catch let refusal as PolicyRefusal {
            throw refusal
        } catch {
            throw PolicyRefusal(.notWhole, (error as? SluiceError)?.message ?? "\(error)")
        }
    }
}
