internal import SluiceBase
internal import SluiceSync

/// Keys that the service has assigned to records, so that what refers to a record by its id does so by its key.
struct KnownKeys {
    private let references: [AssignedReference]
    private var keys: [AssignedReference: [JSON: JSON]] = [:]

    init(_ tables: [TableSchema]) { references = AssignedReference.all(in: tables) }

    /// Takes in a record as the service made it, which was called `id` before.
    mutating func note(_ record: JSON, as id: JSON?, in table: String) {
        guard let id else { return }
        for reference in references where reference.parent == table {
            if let key = record[reference.key], !key.isNull { keys[reference, default: [:]][id] = key }
        }
    }

    /// The record with keys in the place of ids.
    func resolved(_ record: JSON, in table: String) -> JSON {
        var resolved = record
        for reference in references where reference.child == table {
            if let id = record[reference.column], let key = keys[reference]?[id] { resolved[reference.column] = key }
        }
        return resolved
    }
}
