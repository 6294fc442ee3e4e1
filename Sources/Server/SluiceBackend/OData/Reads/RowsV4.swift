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

/// Entities in the JSON of v4 (OData JSON Format 4.01).
struct RowsV4 {
    let root: String
    let namespace: String
    let version: ServiceVersion
    let format: AnswerFormat

    init(_ call: ServiceCall, _ format: AnswerFormat) {
        root = call.root
        namespace = call.model.namespace
        version = call.version
        self.format = format
    }

    private var isFull: Bool { format.metadata == .full }
    private var hasControls: Bool { format.metadata != .none }

    /// Returns one entity as a whole answer.
    func document(_ entity: Entity) -> JSON {
        let fragment = entity.isReference ? "$ref" : "\(context(entity.set, entity.selected))/$entity"
        return JSON(members: contextMember(fragment) + members(entity))
    }

    /// Returns a list as a whole answer; `fragment` is the context's text after `$metadata#`.
    func document(_ list: EntityList, of set: EntitySet, selected: [PropertyName]?, isReferences: Bool = false) -> JSON
    {
        let fragment = isReferences ? "Collection($ref)" : context(set, selected) + (list.isDelta ? "/$delta" : "")
        return JSON(members: contextMember(fragment) + members(list, of: set))
    }

    /// Returns the part of a context with a set and its selection.
    private func context(_ set: EntitySet, _ selected: [PropertyName]?) -> String {
        guard let selected, !selected.isEmpty else { return set.name }
        return "\(set.name)(\(selected.map { ODataName.encoded($0) }.joined(separator: ",")))"
    }

    func contextMember(_ fragment: String) -> [(String, JSON)] {
        hasControls ? [("@odata.context", JSON("\(root)$metadata#\(fragment)"))] : []
    }

    private func members(_ list: EntityList, of set: EntitySet) -> [(String, JSON)] {
        var members: [(String, JSON)] = []
        if let count = list.count { members.append(("@odata.count", JSON(count))) }
        var rows = list.entities.map { JSON(members: self.members($0)) }
        rows += list.gone.map { removed($0.id, $0.isDeleted, set) }
        members.append(("value", JSON(rows)))
        if let next = list.next { members.append(("@odata.nextLink", JSON(next))) }
        if let delta = list.delta, hasControls { members.append(("@odata.deltaLink", JSON(delta))) }
        return members
    }

    /// Returns the entry of an entity that is gone from a list. (OData JSON Format 4.0, section 14.2; 4.01, section
    /// 15.3.)
    private func removed(_ id: RecordID, _ isDeleted: Bool, _ set: EntitySet) -> JSON {
        let reason = JSON(isDeleted ? "deleted" : "changed")
        let address = JSON(root + set.address(id, version))
        guard version == .v401 else {
            return [
                "@odata.context": JSON("\(root)$metadata#\(set.name)/$deletedEntity"), "id": address, "reason": reason,
            ]
        }
        let key = set.hasIntegerIDs ? Int64(id.text).map { JSON($0) } : nil
        return [
            "@removed": ["reason": reason], "@id": address, set.key.name: key ?? JSON(id.text),
        ]
    }

    private func members(_ entity: Entity) -> [(String, JSON)] {
        let set = entity.set
        let address = set.address(entity.id, version)
        if entity.isReference { return [("@odata.id", JSON(root + address))] }
        var members: [(String, JSON)] = []
        if isFull {
            members.append(("@odata.type", JSON("#\(namespace).\(set.name)")))
            members.append(("@odata.id", JSON(root + address)))
        }
        if hasControls, let etag = entity.etag { members.append(("@odata.etag", JSON(etag))) }
        if isFull { members.append(("@odata.editLink", JSON(address))) }
        for (name, value, property) in entity.shown {
            if isFull, let type = property?.type, [.int64, .dateTimeOffset].contains(type) {
                members.append(("\(name)@odata.type", JSON("#\(type.rawValue.dropFirst(4))")))
            }
            members.append(
                (name, ValueForm.written(value, property, version, ieee754: format.isIEEE754Compatible)))
        }
        for link in set.links {
            if isFull {
                members.append(("\(link.name)@odata.associationLink", JSON("\(root)\(address)/\(link.name)/$ref")))
                members.append(("\(link.name)@odata.navigationLink", JSON("\(root)\(address)/\(link.name)")))
            }
            switch entity.expanded[link.name] {
            case nil: continue
            case .one(let target)?:
                members.append((link.name, target.map { JSON(members: self.members($0)) } ?? .null))
            case .count(let count)?: members.append(("\(link.name)@odata.count", JSON(count)))
            case .many(let list)?:
                if let count = list.count { members.append(("\(link.name)@odata.count", JSON(count))) }
                members.append((link.name, JSON(list.entities.map { JSON(members: self.members($0)) })))
                if let next = list.next { members.append(("\(link.name)@odata.nextLink", JSON(next))) }
            }
        }
        return members
    }
}
