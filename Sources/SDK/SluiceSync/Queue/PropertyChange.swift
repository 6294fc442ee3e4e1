internal import SluiceBase

/// A migration's change to the properties of a table's records.
enum PropertyChange: Sendable {
    case rename(PropertyName, to: PropertyName)
    case drop(PropertyName)
    case convert(PropertyName, to: TableSchema.ColumnType)
    case rewrite(@Sendable (JSON) throws -> JSON)

    /// The properties that the change names.
    var names: [PropertyName] {
        switch self {
        case .rename(let old, let new): [old, new]
        case .drop(let name), .convert(let name, _): [name]
        case .rewrite: []
        }
    }

    /// Returns the table's declaration after the change.
    func declaration(of table: TableSchema) -> TableSchema {
        var table = table
        switch self {
        case .rename(let old, let new):
            guard table.column(old) != nil else { return table }
            let isThere = table.column(new) != nil
            table.columns = table.columns.compactMap { column in
                guard column.name == old else { return column }
                return isThere ? nil : TableSchema.Column(new, column.type)
            }
            table.indexes = table.indexes.map { index in
                index.reduce(into: []) { names, name in
                    let name = name == old ? new : name
                    if !names.contains(name) { names.append(name) }
                }
            }
            table.indexes = table.indexes.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        case .drop(let name):
            table.columns.removeAll { $0.name == name }
            table.indexes.removeAll { $0.contains { $0 == name } }
        case .convert(let name, let type):
            for index in table.columns.indices where table.columns[index].name == name {
                table.columns[index].type = type
            }
        case .rewrite: break
        }
        return table
    }

    /// Returns the record, or a part of one, after the change.
    ///
    /// - Parameters:
    ///   - origin: the side that wrote the record.
    ///   - base: for a record of the application the record that it was made on, before the change.
    func record(_ record: JSON, _ origin: RecordCopies.Origin, on base: JSON? = nil) throws -> JSON {
        var changed = record
        switch self {
        case .rename(let old, let new):
            guard let value = record[old] else { break }
            // Of two values the application's own one counts, else the newer name's value from the server.
            let isServers = origin == .server || base?[old] == value
            let isKnown = isServers && !(record[new] ?? .null).isNull
            if !isKnown { changed[new] = value }
            changed[old] = nil
        case .drop(let name): changed[name] = nil
        case .convert(let name, let type):
            if let value = record[name] { changed[name] = Self.value(value, as: type) }
        case .rewrite(let body): changed = try body(record)
        }
        return changed
    }

    /// Returns the value in another type if it has the same meaning there, else unchanged.
    static func value(_ value: JSON, as type: TableSchema.ColumnType) -> JSON {
        switch (type, value.kind) {
        case (.string, .number): value.number.map { JSON($0.description) } ?? value
        case (.string, .bool): JSON(value.bool == true ? "true" : "false")
        case (.integer, .bool), (.real, .bool): JSON(value.bool == true ? 1 : 0)
        case (.integer, .string):
            value.string.flatMap { JSON.Number(text: $0) }.flatMap(\.int).map { JSON($0) } ?? value
        case (.integer, .number): value.int.map { JSON($0) } ?? value
        case (.real, .string): value.string.flatMap { JSON.Number(text: $0) }.map { JSON($0) } ?? value
        case (.boolean, .number): value.int.flatMap { [0: false, 1: true][$0] }.map { JSON($0) } ?? value
        case (.boolean, .string): value.string.flatMap { ["false": false, "true": true][$0] }.map { JSON($0) } ?? value
        case (.json, .string):
            value.string.flatMap { try? JSON(parsing: $0) }
                .flatMap { [.object, .array].contains($0.kind) ? $0 : nil } ?? value
        default: value
        }
    }
}

extension LocalOnly {
    /// Returns the settings after properties of a table were renamed or dropped.
    func following(_ changes: [PropertyChange], in table: String) -> LocalOnly {
        guard var names = columns[table] else { return self }
        for change in changes {
            switch change {
            case .rename(let old, let new): if names.remove(old) != nil { names.insert(new) }
            case .drop(let name): names.remove(name)
            case .convert, .rewrite: break
            }
        }
        var changed = self
        changed.columns[table] = names.isEmpty ? nil : names
        return changed
    }
}
