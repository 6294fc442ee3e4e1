internal import HTTPTypes
internal import SluiceCore

/// A record for an answer, with its version and its expanded entities.
struct Entity: Sendable {
    /// The expanded value of a navigation property.
    enum Expanded: Sendable {
        case one(Entity?)
        case many(EntityList)
        case count(Int)
    }

    let set: EntitySet
    let id: RecordID
    /// The record in the form of OData's wire.
    var record: JSON
    /// The record's version; nil if a hook hides it.
    var version: String?
    var expanded: [String: Expanded] = [:]
    /// The selected properties; nil for all.
    var selected: [PropertyName]?
    /// Whether only its address is shown.
    var isReference = false

    /// Creates an entity from a stored record after the hooks; nil for one without an id.
    init?(_ set: EntitySet, stored: JSON, _ wire: ServerWire) {
        guard let id = stored["id"]?.textID else { return nil }
        self.set = set
        self.id = id
        version = stored[SystemColumn.version]?.string
        record = wire.record(stored, asked: Set(SystemColumn.all))
    }

    /// Creates an entity from an answer of the tables' routes.
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

    /// The shown properties, by their names in addresses.
    var shown: [(name: String, value: JSON, property: EntitySet.Property?)] {
        (record.members ?? []).compactMap { column, value in
            if let selected, !selected.contains(column) { return nil }
            return (ODataName.encoded(column), value, set.property(of: column))
        }
    }

    /// Returns the id of a single-valued link's target; nil for none.
    func target(of link: EntitySet.Link) -> RecordID? {
        guard !link.isCollection, let value = record[link.column] else { return nil }
        return value.textID ?? value.int.map { .string(String($0)) }
    }
}

/// Entities in their order, with the links to further ones.
struct EntityList: Sendable {
    var entities: [Entity]
    var count: Int?
    /// The address of the next page.
    var next: String?
    /// The address of the later changes (the delta link).
    var delta: String?
    /// Entities gone from a list; `isDeleted` distinguishes deleted ones from those that no longer match.
    var gone: [(id: RecordID, isDeleted: Bool)] = []
    /// Whether the list holds changes instead of all entities.
    var isDelta = false
}
