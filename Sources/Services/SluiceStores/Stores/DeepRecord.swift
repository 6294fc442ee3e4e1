internal import SluiceBase

/// A new record with the records created or linked together with it, as single changes in a possible order: a record
/// comes before those that refer to it.
///
/// Linked records stand under the names of navigation properties, as in OData: new ones as objects, known ones by their
/// addresses (`Customer@odata.bind`, `{"@id": …}`, v2's `{"__metadata": {"uri": …}}`).
struct DeepRecord {
    /// One change.
    enum Change: Sendable {
        case insert(JSON, table: String)
        case update(JSON, table: String)
    }

    private let schemas: StoreSchemas
    private let makeID: () -> String
    private(set) var changes: [Change] = []
    /// The requested record, without the records created with it.
    private(set) var root: JSON = .null

    /// The greatest depth of nested new records, and the largest number created at once.
    static let maximumDepth = 5
    static let maximumChanges = 200

    /// - Throws: ``SluiceError`` of code `invalidRecord` for an invalid record or address, and for too many changes.
    init(_ record: JSON, in table: String, schemas: StoreSchemas, makeID: @escaping () -> String) throws(SluiceError) {
        self.schemas = schemas
        self.makeID = makeID
        root = try add(record, in: table, depth: 0)
    }

    /// Whether it is a single record.
    var isSingle: Bool { changes.count == 1 }

    private mutating func add(_ record: JSON, in table: String, depth: Int) throws(SluiceError) -> JSON {
        func refusal(_ reason: String) -> SluiceError {
            SluiceError(.invalidRecord, "a record to create \(reason)", table: table)
        }
        guard record.kind == .object, let members = record.members else { throw refusal("is no object") }
        guard depth < Self.maximumDepth else { throw refusal("is nested deeper than \(Self.maximumDepth)") }
        let schema = schemas[table]
        var own = JSON.object
        var links: [(reference: TableSchema.Reference, value: JSON, isAddress: Bool)] = []
        for (name, value) in members {
            if name.text.hasSuffix("@odata.bind") || name.text.hasSuffix("@bind") {
                let plain = PropertyName(String(name.text.prefix { $0 != "@" }))
                links.append((try schemas.reference(plain, of: table), value, true))
            } else if let reference = schema.reference(name) {
                links.append((reference, value, false))
            } else if !name.text.contains("@"), name != "__metadata" {
                own[name] = value
            }
        }
        if own["id"]?.isNull ?? true { own["id"] = JSON(makeID()) }
        // To one: the other record comes first, and this one refers to it.
        for link in links where !link.reference.isCollection {
            let reference = link.reference
            if link.value.isNull {
                own[reference.column] = .null
            } else if let address = Self.address(link.value, link.isAddress) {
                guard reference.targetColumn == "id" || reference.isAssigned else {
                    throw refusal("can be linked by \(reference.name) only to a new record")
                }
                own[reference.column] = LinkValue(try Self.id(address)).json(for: reference.column, of: schema)
            } else {
                let other = try add(link.value, in: reference.table, depth: depth + 1)
                guard let value = LinkValue(other, by: reference.targetColumn, reference) else {
                    throw refusal("is linked by \(reference.name) to one without \(reference.targetColumn)")
                }
                own[reference.column] = value.json(for: reference.column, of: schema)
            }
        }
        try append(.insert(own, table: table), table)
        // To many: the others refer to this one, and come after it.
        for link in links where link.reference.isCollection {
            let reference = link.reference
            guard let elements = link.value.elements else { throw refusal("has no list under \(reference.name)") }
            guard let value = LinkValue(own, by: reference.column, reference) else {
                throw refusal("has no \(reference.column) to be linked by")
            }
            let there = schemas[reference.table]
            for element in elements {
                let back = value.json(for: reference.targetColumn, of: there)
                if let address = Self.address(element, link.isAddress) {
                    var changes = JSON.object
                    changes["id"] = JSON(try Self.id(address).text)
                    changes[reference.targetColumn] = back
                    try append(.update(changes, table: reference.table), table)
                } else {
                    guard element.kind == .object else { throw refusal("has no record in the list \(reference.name)") }
                    var other = element
                    other[reference.targetColumn] = back
                    _ = try add(other, in: reference.table, depth: depth + 1)
                }
            }
        }
        return own
    }

    private mutating func append(_ change: Change, _ table: String) throws(SluiceError) {
        guard changes.count < Self.maximumChanges else {
            throw SluiceError(
                .invalidRecord, "at most \(Self.maximumChanges) records are created or linked at once", table: table)
        }
        changes.append(change)
    }

    /// Returns the address of a known record; nil for a new one.
    private static func address(_ value: JSON, _ isAddress: Bool) -> String? {
        if isAddress { return value.string }
        if let address = value["@id"]?.string ?? value["@odata.id"]?.string { return address }
        guard let members = value.members, members.count == 1 else { return nil }
        return value["__metadata"]?["uri"]?.string
    }

    private static func id(_ address: String) throws(SluiceError) -> RecordID {
        // The host may be another name of the service; only the key counts.
        var path = address[...]
        if let separator = address.firstRange(of: "://") {
            path = address[separator.upperBound...].drop { $0 != "/" }
        }
        guard let key = try ResourcePathReader(path).path.segments.last?.recordID else {
            throw SluiceError(.invalidRecord, "\(address) is no address of a record")
        }
        return key
    }
}
