internal import SluiceBase

/// The local record after the server has answered for an older state of it.
enum Rebase {
    /// Takes the server's record, but keeps what was edited since the send and what a filter changed on the way out.
    ///
    /// - Parameters:
    ///   - server: what the server has now.
    ///   - local: what the application sees now.
    ///   - sent: what was sent, and the local record at that time.
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

    /// Puts the edits that lead from `old` to `new` on top of `server`.
    static func reapply(from old: JSON, to new: JSON, onto server: JSON, system: Set<PropertyName>) -> JSON {
        record(
            server: server, local: new, sent: SentBody(revision: 0, request: .object, final: .object, local: old),
            system: system) ?? server
    }

    /// The properties in which `local` differs from `base`, with null for what `local` does not have.
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
