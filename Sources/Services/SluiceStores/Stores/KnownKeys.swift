internal import SluiceBase
internal import SluiceSync

/// Keys that the service has assigned to records, so that references by id become references by key.
struct KnownKeys {
    private let references: [AssignedReference]
    /// The references whose columns hold numbers: an id is a text.
    private let numbers: Set<AssignedReference>
    private var keys: [AssignedReference: [JSON: JSON]] = [:]

    init(_ tables: [TableSchema]) {
        references = AssignedReference.all(in: tables) + AssignedReference.byID(in: tables)
        numbers = Set(
            references.filter { reference in
                tables.first { $0.name == reference.child }?.column(reference.column)?.type == .integer
            })
    }

    /// Notes a record that the service created from the one with the former `id`.
    mutating func note(_ record: JSON, as id: JSON?, in table: String) {
        guard let id else { return }
        for reference in references where reference.parent == table {
            guard let key = record[reference.key], !key.isNull, key != id else { continue }
            let number = numbers.contains(reference) ? key.string.flatMap { Int64($0) } : nil
            keys[reference, default: [:]][id] = number.map { JSON($0) } ?? key
        }
    }

    /// Returns the record with keys in the place of ids.
    func resolved(_ record: JSON, in table: String) -> JSON {
        var resolved = record
        for reference in references where reference.child == table {
            if let id = record[reference.column], let key = keys[reference]?[id] { resolved[reference.column] = key }
        }
        return resolved
    }
}
