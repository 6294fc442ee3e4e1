internal import SluiceBase

/// Converts a row between an entity of the service and a record.
///
/// A record holds the entity's properties under their names, including those of the key, and its `id` is the key as a
/// text: see ``EntitySet/column(of:)``. The entity's tag is `__version`; other members of a row (links, types, deferred
/// navigation) are left out.
struct RowForm: Sendable {
    let set: EntitySet
    let version: ODataVersion

    /// The prefix of a version that is a digest of the row, if the service gives no tag.
    static let contentMark = "content:"

    /// Returns the entity's tag; nil if the service gives none.
    func tag(of entity: JSON) -> String? {
        let tag = version == .v4 ? entity["@odata.etag"] ?? entity["@etag"] : entity["__metadata"]?["etag"]
        return tag?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the record's id for an entity: the id given by a client, else its key. Nil without a key.
    func id(of entity: JSON) -> RecordID? {
        if let name = set.clientID, let value = entity[name],
            let id = EdmValue.fromWire(value, type: set.types[name], version: version).string, !id.isEmpty
        {
            return .string(id)
        }
        return EntityKey(row: entity, in: set, version: version)?.id(in: set)
    }

    /// Returns the record of an entity; nil for one without its key.
    ///
    /// - Parameter tag: the tag in the answer's header, if the answer is a single entity.
    func record(of entity: JSON, tag header: String? = nil) -> JSON? {
        guard let id = id(of: entity) else { return nil }
        var members = content(of: entity)
        let text = tag(of: entity) ?? header ?? Self.contentMark + digest(members)
        members.insert(("id", JSON(id)), at: 0)
        members.append(("__version", JSON(text)))
        if let name = set.updatedAt, let time = entity[name] {
            members.append(("__updatedAt", utc(EdmValue.fromWire(time, type: set.types[name], version: version))))
        }
        return JSON(members: members)
    }

    /// Returns the tombstone of a deleted row.
    func tombstone(_ key: EntityKey) -> JSON {
        JSON(members: [("id", JSON(key.id(in: set))), ("__deleted", JSON(true))] as [(PropertyName, JSON)])
    }

    /// Returns the record for a row that still exists and has left the query.
    func leaver(_ key: EntityKey) -> JSON { leaver(key.id(in: set)) }

    /// Returns the same for a record's id.
    func leaver(_ id: RecordID) -> JSON {
        JSON(
            members: [("id", JSON(id)), ("__deleted", JSON(true)), ("@removed", ["reason": "changed"])]
                as [(PropertyName, JSON)])
    }

    /// Returns a row without its key, which cannot be stored, unchanged, so that it is set aside with its reason.
    func unnamed(_ entity: JSON) -> JSON {
        guard entity.kind == .object else { return entity }
        return JSON(members: content(of: entity))
    }

    /// Returns the version of an entity without a tag.
    func contentVersion(of entity: JSON) -> String { Self.contentMark + digest(content(of: entity)) }

    /// Returns the body of a request that creates a row.
    ///
    /// - Parameters:
    ///   - key: the properties of the key that the row provides.
    ///   - clientID: the id that the row keeps; nil if its key is the id.
    func body(ofNew record: JSON, key: [(PropertyName, JSON)], clientID: RecordID?) -> JSON {
        var members = key
        if let name = set.clientID, let clientID { members.append((name, JSON(clientID.text))) }
        return JSON(members: members + rest(of: record, without: set.notCreatable))
    }

    /// Returns the body of a request that changes properties of a row, without those that the service ignores.
    func body(ofChanges record: JSON) -> JSON { JSON(members: rest(of: record, without: set.notUpdatable)) }

    /// Returns the body of a request that replaces the row of a record with that id, which the row keeps. Rows that the
    /// service has expanded by itself are no part of it.
    func body(ofWhole record: JSON, _ id: RecordID, key: EntityKey) -> JSON {
        var members = key.members(in: set, version: version)
        if let name = set.clientID, id != key.id(in: set) { members.append((name, JSON(id.text))) }
        return JSON(members: members + rest(of: record, without: set.navigation))
    }

    /// Returns the members of a request's body beside the key and the client's id.
    private func rest(of record: JSON, without ignored: Set<PropertyName>) -> [(PropertyName, JSON)] {
        let left = ignored.union(set.key.map(\.name)).union(set.clientID.map { [$0] } ?? [])
        return (record.members ?? []).compactMap { column, value in
            let name = set.property(of: column)
            if column == "id" || left.contains(name) || column.text.hasPrefix("__") || column.text.hasPrefix("@") {
                return nil
            }
            // A row always has the time of its change: a record without it must not remove it.
            if name == set.updatedAt, value.isNull { return nil }
            if let shape = set.structured[name] { return (name, shape.toWire(value, version: version)) }
            return (name, EdmValue.toWire(value, type: set.types[name], version: version))
        }
    }

    /// Returns the record with the service's names and values, for filters in the service's terms.
    func entity(of record: JSON) -> JSON {
        var entity = record
        entity["id"] = nil
        for (column, value) in record.members ?? [] where column != "id" && set.property(of: column) != column {
            entity[column] = nil
            entity[set.property(of: column)] = value
        }
        if let key = record["id"]?.textID.flatMap({ EntityKey(id: $0, in: set) }) {
            for (property, plain) in zip(set.key, key.values) where entity[property.name] == nil {
                entity[property.name] = EdmValue.json(plain: plain, type: property.type)
            }
        }
        return entity
    }

    /// Returns the properties in the form of a record, in the order in which they came.
    private func content(of entity: JSON) -> [(PropertyName, JSON)] {
        var members: [(PropertyName, JSON)] = []
        for (name, value) in entity.members ?? [] where !isID(name) && !isAnnotation(name, value) {
            let isPlain = value.kind != .array && value.kind != .object
            let plain = isPlain ? set.types[name].map { EdmValue.fromWire(value, type: $0, version: version) } : nil
            members.append((set.column(of: name), plain ?? converted(value, set.structured[name] ?? .unknown)))
        }
        return members
    }

    /// Whether the property is the record's id, and has no column beside it.
    private func isID(_ name: PropertyName) -> Bool {
        name == set.clientID || (name == "id" && name == set.singleKey?.name)
    }

    private func isAnnotation(_ name: PropertyName, _ value: JSON) -> Bool {
        switch version {
        case .v4: name.text.contains("@")
        case .v2: name == "__metadata" || name.text.hasPrefix("__") || value["__deferred"] != nil
        }
    }

    private func converted(_ value: JSON, _ shape: EdmShape, depth: Int = 0) -> JSON {
        guard depth < JSON.maximumDepth else { return value }
        if let elements = value.elements {
            return JSON(elements.map { converted($0, shape.element, depth: depth + 1) })
        }
        if let members = value.members {
            // v2 wraps the rows of an expanded collection.
            if version == .v2, let results = value["results"], results.kind == .array {
                return converted(results, shape, depth: depth + 1)
            }
            return JSON(
                members: members.filter { !isAnnotation($0.name, $0.value) }
                    .map { ($0.name, converted($0.value, shape.member($0.name), depth: depth + 1)) })
        }
        return shape.fromWire(value, version: version)
    }

    /// Returns a time with its zone; one without a zone is in UTC.
    private func utc(_ time: JSON) -> JSON {
        guard let text = time.string else { return .null }
        return Timestamp(text) == nil && Timestamp(text + "Z") != nil ? JSON(text + "Z") : time
    }

    /// Returns a digest of the content that does not depend on the order of the properties. A key `ID` is not in it:
    /// records of older stores do not have it.
    private func digest(_ members: [(PropertyName, JSON)]) -> String {
        let key = set.singleKey.flatMap { $0.name.text.lowercased() == "id" ? $0.name : nil }
        let sorted = members.filter { $0.0 != key }.sorted { $0.0 < $1.0 }
        return String(FNV1a.spread(FNV1a.hash(JSON(members: sorted).bytes())), radix: 16)
    }
}
