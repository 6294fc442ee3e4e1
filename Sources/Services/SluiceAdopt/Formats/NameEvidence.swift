internal import SluiceBase

/// The spelling of names, and the kinds of their values, as records in an old queue show them. Android's and iOS's tables
/// have the names in one case alone, and no type of booleans.
struct NameEvidence {
    private struct Property {
        var name: PropertyName
        var kinds: Set<JSON.Kind>
    }

    private var properties: [String: [String: Property]] = [:]
    fileprivate(set) var tables: [String: String] = [:]

    init(_ queue: OldQueue) {
        for operation in queue.operations {
            let table = operation.table.lowercased()
            tables[table] = operation.table
            for record in [operation.item, operation.serverItem] {
                for (name, value) in record?.members ?? [] where !value.isNull {
                    properties[table, default: [:]][
                        name.text.lowercased(), default: Property(name: name, kinds: [])
                    ].kinds.insert(value.kind)
                }
            }
        }
        for token in queue.tokens where !token.isJoined { tables[token.table.lowercased()] = token.table }
    }

    func table(_ name: String) -> String? { tables[name.lowercased()] }

    func name(_ column: String, of table: String) -> PropertyName? {
        properties[table.lowercased()]?[column.lowercased()]?.name
    }

    /// Returns the one kind that the values have; nil where none was seen.
    func kind(_ column: String, of table: String) -> JSON.Kind? {
        guard let kinds = properties[table.lowercased()]?[column.lowercased()]?.kinds, kinds.count == 1 else {
            return nil
        }
        return kinds.first
    }
}
