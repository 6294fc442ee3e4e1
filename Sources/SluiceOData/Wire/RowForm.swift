internal import SluiceBase

/// A row between its two forms: an entity of the service, and a record.
///
/// A record holds the entity's properties under their names, except for a single key property, which is its `id`. The
/// entity's tag is `__version`; what else the service says of a row (links, types, deferred navigation) is left out.
struct RowForm: Sendable {
    let set: EntitySet
    let version: ODataVersion

    /// What begins a version that is none of the service's: a digest of the row, where the service gives no tag.
    static let contentMark = "content:"

    /// The record of an entity; nil for one without its key.
    func record(of entity: JSON) -> JSON? {
        guard let key = EntityKey(row: entity, in: set, version: version) else { return nil }
        var members = content(of: entity)
        var tag = version == .v4 ? entity["@odata.etag"] ?? entity["@etag"] : entity["__metadata"]?["etag"]
        if tag?.string?.isEmpty ?? true { tag = nil }
        let text = tag?.string ?? Self.contentMark + Self.digest(members)
        members.insert(("id", JSON(key.id(in: set))), at: 0)
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
    func leaver(_ key: EntityKey) -> JSON {
        JSON(
            members: [
                ("id", JSON(key.id(in: set))), ("__deleted", JSON(true)), ("@removed", ["reason": "changed"]),
            ] as [(PropertyName, JSON)])
    }

    /// The body of a request that creates or changes a row: what the service keeps itself is not in it.
    func body(of record: JSON, key: EntityKey?) -> JSON {
        var members = key?.members(in: set, version: version) ?? []
        let names = Set(set.key.map(\.name))
        for (name, value) in record.members ?? []
        where name != "id" && !names.contains(name) && !name.text.hasPrefix("__") && !name.text.hasPrefix("@") {
            members.append((name, EdmValue.toWire(value, type: set.types[name], version: version)))
        }
        return JSON(members: members)
    }

    /// The properties, as a record has them, in the order in which they came.
    private func content(of entity: JSON) -> [(PropertyName, JSON)] {
        var members: [(PropertyName, JSON)] = []
        for (name, value) in entity.members ?? [] where name != set.singleKey?.name && !isAnnotation(name, value) {
            members.append((name, converted(value, set.types[name], depth: 0)))
        }
        return members
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
