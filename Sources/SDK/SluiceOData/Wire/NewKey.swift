internal import SluiceBase

/// The key of a row to be created: the values of the key's properties in the record or, if these are missing, the
/// record's id.
///
/// The id may have been generated for a record whose key was given under the service's own names; so these take
/// precedence.
enum NewKey {
    /// The row has that key.
    case whole(EntityKey)
    /// The service assigns the key, or the part of it beside those values.
    case assigned(given: [(PropertyName, JSON)])
    /// No row can be created from the record, for that reason.
    case refused(String)

    init(of record: JSON, called id: RecordID?, in set: EntitySet, version: ODataVersion) {
        let own = id.flatMap { EntityKey(id: $0, in: set) }
        var given: [String?] = set.key.map { property in
            let column = set.column(of: property.name)
            if column == "id" { return nil }
            return EdmValue.plain(record[column], type: property.type, version: version)
        }
        for index in set.key.indices where set.assignedKey.contains(set.key[index].name) {
            // A row that is created again has its former key: by its id, or beside an id of its own.
            guard given[index] == nil || given[index] == own?.values[index] || set.clientID != nil else {
                let name = set.key[index].name
                self = .refused("\(name) of \(set.name) is assigned by the service: make the row without it")
                return
            }
            given[index] = nil
        }
        // The id fills in missing key values unless it contradicts a given one: then it was generated for the record.
        if let own, set.key.count > 1 || given.allSatisfy({ $0 == nil }),
            zip(own.values, given).allSatisfy({ $1 == nil || $0 == $1 })
        {
            given = own.values.map { $0 }
        }
        let assigned = set.key.map { set.assignedKey.contains($0.name) }
        let missing = set.key.indices.filter { given[$0] == nil && !assigned[$0] }.map { set.key[$0].name.text }
        // A row with its id in a property of its own needs no key from here.
        guard missing.isEmpty || (set.clientID != nil && !set.assignsKey) else {
            self = .refused(Self.incomplete(missing, set))
            return
        }
        if set.assignsKey || !missing.isEmpty {
            let brought = set.key.indices.compactMap { index in
                assigned[index] ? nil : given[index].map { (set.key[index], $0) }
            }
            self = .assigned(
                given: brought.map { property, plain in
                    let value = EdmValue.json(plain: plain, type: property.type)
                    return (property.name, EdmValue.toWire(value, type: property.type, version: version))
                })
        } else if let key = EntityKey(values: given.compactMap { $0 }, in: set) {
            self = .whole(key)
        } else {
            self = .refused("what the record has for its key is no key of \(set.name)")
        }
    }

    private static func incomplete(_ missing: [String], _ set: EntitySet) -> String {
        if set.key.count > 1 {
            return "a row of \(set.name) is made with its key: the record lacks \(missing.joined(separator: ", "))"
        }
        return "the record's id is no key of \(set.name): give it \(missing[0]), or say in the settings that the "
            + "service assigns the keys, and best a property for the ids of new rows (clientID)"
    }
}
