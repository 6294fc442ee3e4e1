internal import HTTPTypes
internal import SluiceCore

/// A record on its way to a client: with its version, and with the entities that it is to be shown with.
struct Entity: Sendable {
    /// What stands in the place of a navigation property.
    enum Expanded: Sendable {
        case one(Entity?)
        case many(EntityList)
        case count(Int)
    }

    let set: EntitySet
    let id: RecordID
    /// The record as the wire of OData shows it.
    var record: JSON
    /// The record's version; nil where a hook hides it.
    var version: String?
    var expanded: [String: Expanded] = [:]
    /// The properties that are shown; nil for all.
    var selected: [PropertyName]?
    /// Whether its address alone is shown.
    var isReference = false

    /// A stored record, as hooks left it; nil for one without an id.
    init?(_ set: EntitySet, stored: JSON, _ wire: ServerWire) {
        guard let id = stored["id"]?.textID else { return nil }
        self.set = set
        self.id = id
        version = stored[SystemColumn.version]?.string
        record = wire.record(stored, asked: Set(SystemColumn.all))
    }

    /// The record of an answer by the tables' routes.
    init?(_ set: EntitySet, reply: Reply) {
        guard let body = reply.body, let id = body["id"]?.textID ?? body["id"]?.int.map({ .string(String($0)) }) else {
            return nil
        }
        self.set = set
        self.id = id
        record = body
        version = reply.headers[.eTag].flatMap { ETag($0).version }
    }

    var etag: String? { ETag.odata(version) }

    /// The properties to be shown, by the names that they have in addresses. What has no such name is left out.
    var shown: [(name: String, value: JSON, property: EntitySet.Property?)] {
        (record.members ?? []).compactMap { column, value in
            if let selected, !selected.contains(column) { return nil }
            return (ODataName.encoded(column), value, set.property(of: column))
        }
    }

    /// The id that a link to one entity leads to; nil for none.
    func target(of link: EntitySet.Link) -> RecordID? {
        guard !link.isCollection, let value = record[link.column] else { return nil }
        return value.textID ?? value.int.map { .string(String($0)) }
    }
}

/// Entities in their order, and how to go on.
struct EntityList: Sendable {
    var entities: [Entity]
    var count: Int?
    /// The address of the next page.
    var next: String?
    /// The address of what will have changed since.
    var delta: String?
    /// Entities that a list holds no more, with whether they are deleted.
    var gone: [(id: RecordID, isDeleted: Bool)] = []
    /// Whether it says what has changed, and not what there is.
    var isDelta = false
}
