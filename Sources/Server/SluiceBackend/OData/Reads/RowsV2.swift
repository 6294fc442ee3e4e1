internal import SluiceCore
internal import SluiceOData

/// Entities in the JSON of v2 (OData v2, JSON Format).
struct RowsV2 {
    let root: String
    let namespace: String
    /// Whether the client only knows version 1, in which a list is a bare array.
    let isV1: Bool

    init(_ call: ServiceCall) {
        root = call.root
        namespace = call.model.namespace
        isV1 = call.knowsV1Only
    }

    func document(_ entity: Entity) -> JSON { ["d": row(entity)] }

    func document(_ list: EntityList, of set: EntitySet) -> JSON { ["d": body(list, of: set)] }

    private func body(_ list: EntityList, of set: EntitySet) -> JSON {
        let rows = list.entities.map(row) + list.gone.map { gone($0.id, set) }
        if isV1 { return JSON(rows) }
        var members: [(String, JSON)] = []
        if let count = list.count { members.append(("__count", JSON(String(count)))) }
        members.append(("results", JSON(rows)))
        if let next = list.next { members.append(("__next", JSON(next))) }
        if let delta = list.delta { members.append(("__delta", JSON(delta))) }
        return JSON(members: members)
    }

    private func gone(_ id: RecordID, _ set: EntitySet) -> JSON {
        let uri = JSON(root + set.address(id, .v2))
        return ["__metadata": ["id": uri, "uri": uri, "type": JSON("\(namespace).\(set.name)"), "deleted": true]]
    }

    private func row(_ entity: Entity) -> JSON {
        let set = entity.set
        let uri = root + set.address(entity.id, .v2)
        if entity.isReference { return ["uri": JSON(uri)] }
        var metadata: JSON = ["id": JSON(uri), "uri": JSON(uri), "type": JSON("\(namespace).\(set.name)")]
        if let etag = entity.etag { metadata["etag"] = JSON(etag) }
        var members: [(String, JSON)] = [("__metadata", metadata)]
        for (name, value, property) in entity.shown where property != nil {
            members.append((name, ValueForm.written(value, property, .v2)))
        }
        for link in set.links {
            switch entity.expanded[link.name] {
            case nil, .count?:
                if entity.selected == nil {
                    members.append((link.name, ["__deferred": ["uri": JSON("\(uri)/\(link.name)")]]))
                }
            case .one(let target)?: members.append((link.name, target.map(row) ?? .null))
            case .many(let list)?: members.append((link.name, body(list, of: set)))
            }
        }
        return JSON(members: members)
    }
}
