internal import SluiceBase

extension Fingerprint {
    /// Returns the fingerprint of the file's format. Kinds and states have other numbers in each format, so nothing is
    /// guessed.
    ///
    /// - Throws: ``SluiceError`` of code `unsupported`, with the tables or columns that no known version has.
    static func recognise(_ file: OldFile, expected: OldStoreFormat?) throws(SluiceError) -> Fingerprint {
        let known = all.filter { $0.isLike(file) }
        guard let found = known.first, known.count == 1 else {
            let names = file.tables.keys.sorted().joined(separator: ", ")
            throw SluiceError(
                .unsupported,
                known.isEmpty
                    ? "the file is no store of a known SDK; it has the tables \(names.isEmpty ? "(none)" : names)"
                    : "the file is like stores of several SDKs: \(known.map(\.format.rawValue).joined(separator: ", "))"
            )
        }
        if let expected, expected != found.format {
            throw SluiceError(
                .unsupported, "the file is a store of the format \(found.format.rawValue), not \(expected.rawValue)")
        }
        let differences = found.differences(in: file)
        guard differences.isEmpty else {
            throw SluiceError(
                .unsupported,
                "the file is like a store of the format \(found.format.rawValue), and of no known version: "
                    + differences.joined(separator: "; "))
        }
        return found
    }

    /// Whether the file has a mark that no other format has. The other differences from a known version are named by
    /// ``differences(in:)``.
    private func isLike(_ file: OldFile) -> Bool {
        switch format {
        case .net:
            file.has("__operations", "tableKind") || file.has("__operations", "__createdAt") && !Self.isAndroid(file)
        case .datasync:
            file.has("__operations", "state") && file.has("__errors", "status")
                && !file.has("__operations", "tableKind")
                && file.tables["__config"]?.first { $0.name == "value" }?.type == "INTEGER"
        case .toolkit: file.has("DatasyncOperationsQueue")
        case .javascript: file.has("__pulltime")
        case .android: Self.isAndroid(file)
        case .ios: file.has("ZMS_TABLEOPERATIONS")
        }
    }

    private static func isAndroid(_ file: OldFile) -> Bool {
        file.has("__operations", "__queueloadedat") || file.has("__itembackups") || file.has("__incrementalpulldata")
    }

    /// Returns the differences from every known version, each as a text.
    private func differences(in file: OldFile) -> [String] {
        var differences: [String] = []
        for (name, table) in tables.sorted(by: { $0.key < $1.key }) {
            guard let columns = file.tables[name] else {
                if !table.isOptional { differences.append("the table \(name) is missing") }
                continue
            }
            let names = Set(columns.map(\.name))
            let missing = table.columns.subtracting(names).sorted()
            let unknown = names.subtracting(table.columns).subtracting(table.others).sorted()
            if !missing.isEmpty { differences.append("\(name) has no \(missing.joined(separator: ", "))") }
            if !unknown.isEmpty { differences.append("\(name) has \(unknown.joined(separator: ", "))") }
        }
        if format == .net, let value = file.tables["__config"]?.first(where: { $0.name == "value" }),
            value.type != "TEXT"
        {
            differences.append("__config.value is \(value.type) and not TEXT")
        }
        // Names that begin so are the SDKs' own.
        let own = file.tables.keys.filter { $0.hasPrefix("__") && tables[$0] == nil && !ignored.contains($0) }
        if !own.isEmpty { differences.append("it has the table \(own.sorted().joined(separator: ", "))") }
        return differences
    }
}

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
