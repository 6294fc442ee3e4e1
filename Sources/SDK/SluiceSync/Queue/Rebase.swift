internal import SluiceBase

/// Computes the local record after the server's answer for an older state of it.
enum Rebase {
    /// Takes the server's record, except for properties edited since the send and properties that a filter changed in
    /// the request.
    ///
    /// - Parameters:
    ///   - server: the server's record.
    ///   - local: the record that the application sees.
    ///   - sent: the sent bodies, and the local record at that time.
    ///   - system: the properties that only the server sets.
    package static func record(server: JSON, local: JSON?, sent: SentBody, system: Set<PropertyName>) -> JSON? {
        guard let local, local != sent.local || sent.request != sent.final else {
            return local == nil ? nil : server
        }
        var rebased = server
        let before = sent.local ?? .object
        let names = Set(local.names).union(before.names).union(sent.request.names).subtracting(system)
        for name in names.sorted() {
            let editedSince = local[name] != before[name]
            let changedByFilter = sent.request[name] != sent.final[name]
            if editedSince || changedByFilter { rebased[name] = local[name] }
        }
        return rebased
    }

    /// Puts the edits between `old` and `new` on top of `server`.
    static func reapply(from old: JSON, to new: JSON, onto server: JSON, system: Set<PropertyName>) -> JSON {
        record(
            server: server, local: new, sent: SentBody(revision: 0, request: .object, final: .object, local: old),
            system: system) ?? server
    }

    /// Returns the properties in which `local` differs from `base`, with null for properties missing in `local`.
    package static func changes(from base: JSON, to local: JSON, system: Set<PropertyName>) -> JSON {
        var changes = JSON.object
        for (name, value) in local.members ?? [] where !system.contains(name) && base[name] != value {
            changes[name] = value
        }
        for name in base.names where !system.contains(name) && local[name] == nil && base[name]?.isNull == false {
            changes[name] = .null
        }
        return changes
    }
}
