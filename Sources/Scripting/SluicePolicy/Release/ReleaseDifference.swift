package import SluiceCore
internal import SluiceLua

/// The differences between two releases in words, permissions first: an operator reads them before a signature.
package struct ReleaseDifference: Sendable {
    /// A difference.
    package struct Line: Sendable, Hashable {
        /// `permissions`, `devices`, `plugins`, `policy`, `files`.
        package let about: String
        package let text: String
    }

    /// The differences.
    package private(set) var lines: [Line] = []

    /// Compares two releases.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if the policy of one is invalid.
    package init(from old: PolicyRelease, to new: PolicyRelease) throws(SluiceError) {
        let (before, after) = (Self.plans(try old.read()), Self.plans(try new.read()))
        let names = Set(before.keys).union(after.keys).sorted()
        for name in names { permissions(name, before[name], after[name]) }
        devices(old, new)
        for name in names { plugin(name, before[name], after[name]) }
        if old.policy != new.policy { add("policy", "the policy's text changes") }
        for name in names {
            for path in Set(old.plugins[name, default: [:]].keys).union(new.plugins[name, default: [:]].keys).sorted() {
                let (was, is_) = (old.plugins[name]?[path], new.plugins[name]?[path])
                if was == is_ { continue }
                add("files", "\(name)/\(path) \(was == nil ? "is new" : is_ == nil ? "goes" : "changes")")
            }
        }
    }

    private static func plans(_ policy: PluginPolicy) -> [String: PluginPlan] {
        Dictionary(policy.plans.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    }

    private mutating func add(_ about: String, _ text: String) { lines.append(Line(about: about, text: text)) }

    private mutating func permissions(_ name: String, _ old: PluginPlan?, _ new: PluginPlan?) {
        let (before, after) = (old?.permissions.words ?? [], new?.permissions.words ?? [])
        for word in after.subtracting(before).sorted() { add("permissions", "\(name) may now \(word)") }
        for word in before.subtracting(after).sorted() { add("permissions", "\(name) may no longer \(word)") }
    }

    private mutating func devices(_ old: PolicyRelease, _ new: PolicyRelease) {
        if old.name != new.name { add("devices", "the name changes from \(old.name) to \(new.name)") }
        for label in Set(old.audience.labels.keys).union(new.audience.labels.keys).sorted() {
            let (was, is_) = (old.audience.labels[label], new.audience.labels[label])
            if was != is_ { add("devices", "\(label): \(was ?? "any") becomes \(is_ ?? "any")") }
        }
        if old.audience.share != new.audience.share {
            let (was, is_) = (PolicyAudience.text(old.audience.share), PolicyAudience.text(new.audience.share))
            add("devices", "\(was) of the devices becomes \(is_)")
        }
        for (name, was, is_) in [("from", old.validFrom, new.validFrom), ("until", old.validUntil, new.validUntil)]
        where was != is_ {
            add(
                "devices",
                "valid \(name) \(was.map(\.description) ?? "any time") becomes \(is_.map(\.description) ?? "any time")")
        }
        for key in new.revokes.subtracting(old.revokes).sorted() { add("devices", "the key \(key) counts no longer") }
    }

    private mutating func plugin(_ name: String, _ old: PluginPlan?, _ new: PluginPlan?) {
        guard let new else { return add("plugins", "\(name) goes") }
        guard let old else {
            return add(
                "plugins",
                "\(name) \(new.manifest.version) is new: \(new.hooks.keys.map(\.rawValue).sorted().joined(separator: ", "))"
            )
        }
        if old.manifest.version != new.manifest.version {
            add("plugins", "\(name) \(old.manifest.version) becomes \(new.manifest.version)")
        }
        if old.mode != new.mode {
            add("plugins", "\(name) runs as \(new.mode.rawValue) in place of \(old.mode.rawValue)")
        }
        for hook in Set(new.hooks.keys).subtracting(old.hooks.keys).map(\.rawValue).sorted() {
            add("plugins", "\(name) takes part in \(hook)")
        }
        for hook in Set(old.hooks.keys).subtracting(new.hooks.keys).map(\.rawValue).sorted() {
            add("plugins", "\(name) takes part in \(hook) no longer")
        }
        if old.config != new.config { add("plugins", "\(name) gets another configuration") }
    }
}
