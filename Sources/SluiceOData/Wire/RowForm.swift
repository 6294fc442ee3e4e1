internal import SluiceBase

/// A row between its two forms: an entity of the service, and a record.
///
/// A record holds the entity's properties under their names, except for a single key property, which is its `id`. The
/// entity's tag is `__version`; what else the service says of a row (links, types, deferred navigation) is left out.
struct RowForm: Sendable {
    let set: EntitySet
    let version: ODataVersion

    /// What begins a version that is not the service's: a digest of the row, where the service gives no tag.
    static let contentMark = "content:"

    /// The entity's tag; nil where the service gives none.
    func tag(of entity: JSON) -> String? {
        let tag = version == .v4 ? entity["@odata.etag"] ?? entity["@etag"] : entity["__metadata"]?["etag"]
        return tag?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// What the record of an entity is called: the id that a client gave it, else its key. Nil without a key.
    func id(of entity: JSON) -> RecordID? {
        if let name = set.clientID, let id = entity[name]?.string, !id.isEmpty { return .string(id) }
        return EntityKey(row: entity, in: set, version: version)?.id(in: set)
    }

    /// The record of an entity; nil for one without its key.
    ///
    /// - Parameter tag: the tag in the answer's header, where the entity stands alone.
    func record(of entity: JSON, tag header: String? = nil) -> JSON? {
        guard let id = id(of: entity) else { return nil }
        var members = content(of: entity)
        let text = tag(of: entity) ?? header ?? Self.contentMark + Self.digest(members)
        members.insert(("id", JSON(id)), at: 0)
        members.append(("__version", JSON(text)))
        if let name = set.updatedAt, let time = entity[name] {
            members.append(("__updatedAt", utc(EdmValue.fromWire(time, type: set.types[name], version: version))))
        }
        return JSON(members: members)
    }

    /// The record that stands for a deleted row.
    func tombstone(_ key: EntityKey) -> JSON {
        JSON(members: [("id", JSON(key.id(in: set))), ("__deleted", JSON(true))] as [(PropertyName, JSON)])
    }

    /// The record that stands for a row which is there still, and which the query no longer has.
    func leaver(_ key: EntityKey) -> JSON { leaver(key.id(in: set)) }

    /// The same of a record.
    func leaver(_ id: RecordID) -> JSON {
        JSON(
            members: [("id", JSON(id)), ("__deleted", JSON(true)), ("@removed", ["reason": "changed"])]
                as [(PropertyName, JSON)])
    }

    /// A row without its key, which nobody can store: as it came, so that it is set aside with its reason.
    func unnamed(_ entity: JSON) -> JSON {
        guard entity.kind == .object else { return entity }
        return JSON(members: content(of: entity))
    }

    /// The version of an entity without a tag.
    func contentVersion(of entity: JSON) -> String { Self.contentMark + Self.digest(content(of: entity)) }

    /// The body of a request that creates or changes a row: what the service keeps itself is not in it.
    ///
    /// - Parameters:
    ///   - key: of a row that is created with it.
    ///   - clientID: of a row whose key the service assigns.
    func body(of record: JSON, key: EntityKey?, clientID: RecordID? = nil) -> JSON {
        var members = key?.members(in: set, version: version) ?? []
        if let name = set.clientID, let clientID { members.append((name, JSON(clientID.text))) }
        let names = Set(set.key.map(\.name))
        // A row that is made may name what no update may.
        let fixed = key == nil && clientID == nil ? set.readOnly : []
        for (name, value) in record.members ?? []
        where name != "id" && name != set.clientID && !names.contains(name) && !fixed.contains(name)
            && !name.text.hasPrefix("__") && !name.text.hasPrefix("@")
            // A row always has the time of its change: who does not know it does not take it away.
            && !(name == set.updatedAt && value.isNull)
        {
            members.append((name, EdmValue.toWire(value, type: set.types[name], version: version)))
        }
        return JSON(members: members)
    }

    /// The properties, as a record has them, in the order in which they came.
    private func content(of entity: JSON) -> [(PropertyName, JSON)] {
        var members: [(PropertyName, JSON)] = []
        for (name, value) in entity.members ?? [] where !isID(name) && !isAnnotation(name, value) {
            members.append((name, converted(value, set.types[name], depth: 0)))
        }
        return members
    }

    /// Whether the property is the record's id: a key of that name, in any case, has no column beside it.
    private func isID(_ name: PropertyName) -> Bool {
        name == set.clientID || (name == set.singleKey?.name && name.text.lowercased() == "id")
    }

    private func isAnnotation(_ name: PropertyName, _ value: JSON) -> Bool {
        switch version {
        case .v4: name.text.contains("@")
        case .v2: name == "__metadata" || name.text.hasPrefix("__") || value["__deferred"] != nil
        }
    }

    private func converted(_ value: JSON, _ type: EdmPrimitive?, depth: Int) -> JSON {
        guard depth < JSON.maximumDepth else { return value }
        if let elements = value.elements { return JSON(elements.map { converted($0, nil, depth: depth + 1) }) }
        if let members = value.members {
            // v2 wraps the rows of an expanded collection.
            if version == .v2, let results = value["results"], results.kind == .array {
                return converted(results, nil, depth: depth + 1)
            }
            return JSON(
                members: members.filter { !isAnnotation($0.name, $0.value) }
                    .map { ($0.name, converted($0.value, nil, depth: depth + 1)) })
        }
        return EdmValue.fromWire(value, type: type, version: version)
    }

    /// A time with its zone; one that has none is in UTC.
    private func utc(_ time: JSON) -> JSON {
        guard let text = time.string else { return .null }
        return Timestamp(text) == nil && Timestamp(text + "Z") != nil ? JSON(text + "Z") : time
    }

    /// A digest of the content that does not depend on the order of the properties.
    private static func digest(_ members: [(PropertyName, JSON)]) -> String {
        let sorted = members.sorted { $0.0 < $1.0 }
        return String(FNV1a.spread(FNV1a.hash(JSON(members: sorted).bytes())), radix: 16)
    }
}
