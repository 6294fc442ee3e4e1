internal import SluiceLua

/// The permissions that a reload granted and revoked, so that an operator sees the demands of a changed bundle.
enum PermissionChanges {
    /// Returns a line for each plugin with changed permissions.
    static func lines(from old: Serving, to new: Serving) -> [String] {
        new.installations.flatMap { installation in
            let place = installation.name.isEmpty ? "" : "\(installation.name): "
            return lines(
                from: permissions(old.installation(installation.name)), to: permissions(installation)
            ).map { place + $0 }
        }
    }

    private static func permissions(_ installation: Installation?) -> [String: Set<String>] {
        let plans = installation?.session.plugins?.plans ?? []
        return Dictionary(plans.map { ($0.name, $0.permissions.words) }, uniquingKeysWith: { $1 })
    }

    private static func lines(from old: [String: Set<String>], to new: [String: Set<String>]) -> [String] {
        new.sorted { $0.key < $1.key }.compactMap { name, words in
            let (more, less) = (words.subtracting(old[name] ?? []), (old[name] ?? []).subtracting(words))
            let parts = [("may now", more), ("may no longer", less)].compactMap { word, permissions in
                permissions.isEmpty ? nil : "\(word) \(permissions.sorted().joined(separator: ", "))"
            }
            return parts.isEmpty ? nil : "plugin \(name) \(parts.joined(separator: "; "))"
        }
    }
}
