internal import SluiceLua

/// The permissions that a reload granted and revoked, so that an operator sees the demands of a changed bundle.
enum PermissionChanges {
    /// Returns a line for each plugin whose permissions differ between two sets.
    static func lines(from old: [PluginPlan], to new: [PluginPlan]) -> [String] {
        let (old, new) = (words(old), words(new))
        return new.sorted { $0.key < $1.key }.compactMap { name, words in
            let (more, less) = (words.subtracting(old[name] ?? []), (old[name] ?? []).subtracting(words))
            let parts = [("may now", more), ("may no longer", less)].compactMap { word, permissions in
                permissions.isEmpty ? nil : "\(word) \(permissions.sorted().joined(separator: ", "))"
            }
            return parts.isEmpty ? nil : "plugin \(name) \(parts.joined(separator: "; "))"
        }
    }

    private static func words(_ plans: [PluginPlan]) -> [String: Set<String>] {
        Dictionary(plans.map { ($0.name, $0.permissions.words) }, uniquingKeysWith: { $1 })
    }
}
