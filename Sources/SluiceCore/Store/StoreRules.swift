/// What every store refuses, so that a record that one store takes is taken by all.
package enum StoreRules {
    /// The columns that a store keeps beside the declared ones; no declared column may have such a name.
    package static let reservedColumns = ["id", "_extra", "_absent"]

    /// - Throws: ``SluiceError`` of code `invalidTable` unless the name has 1 to 128 characters and no NUL.
    package static func check(table name: String) throws(SluiceError) {
        guard isName(name) else {
            throw SluiceError(.invalidTable, "a table's name has 1 to 128 characters and no NUL", table: name)
        }
    }

    /// The id of a record that may be put.
    ///
    /// - Throws: ``SluiceError`` of code `invalidRecord`.
    package static func id(of record: JSON, in table: String) throws(SluiceError) -> String {
        guard record.kind == .object else {
            throw SluiceError(.invalidRecord, "a record is a JSON object", table: table)
        }
        guard let id = record["id"]?.string, !id.isEmpty else {
            throw SluiceError(.invalidRecord, "a record has a string id that is not empty", table: table)
        }
        guard isShallow(record) else {
            throw SluiceError(
                .invalidRecord, "the record nests deeper than \(JSON.maximumDepth) levels", table: table, recordID: id)
        }
        return id
    }

    /// The schema that `held` becomes when `wanted` is declared: columns and indexes are added, none is taken away.
    ///
    /// - Throws: ``SluiceError`` of code `invalidTable` for names that are not allowed, `storeSchema` where a column
    ///   has another type already.
    package static func merge(_ wanted: TableSchema, into held: TableSchema?) throws(SluiceError) -> TableSchema {
        try check(table: wanted.name)
        var merged = held ?? TableSchema(wanted.name)
        for column in wanted.columns {
            if let known = merged.columns.first(where: { isSame($0.name, column.name) }) {
                guard known.type == column.type else {
                    throw SluiceError(
                        .storeSchema,
                        "column \(column.name) holds \(known.type.rawValue) and is declared as \(column.type.rawValue); "
                            + "move the data to a new table to change a column's type", table: wanted.name)
                }
                continue
            }
            try check(column: column.name, beside: merged)
            merged.columns.append(column)
        }
        for index in wanted.indexes where !merged.indexes.contains(index) {
            for name in index where name != "id" && !merged.columns.contains(where: { isSame($0.name, name) }) {
                throw SluiceError(
                    .invalidTable, "an index wants the column \(name), which is not declared", table: wanted.name)
            }
            if !index.isEmpty { merged.indexes.append(index) }
        }
        return merged
    }

    /// Databases take names for the same that differ in the case of ASCII letters only.
    private static func check(column name: String, beside schema: TableSchema) throws(SluiceError) {
        guard isName(name) else {
            throw SluiceError(.invalidTable, "a column's name has 1 to 128 characters and no NUL", table: schema.name)
        }
        let folded = folded(name)
        if reservedColumns.contains(where: { self.folded($0) == folded }) {
            throw SluiceError(.invalidTable, "the column name \(name) is the store's own", table: schema.name)
        }
        if let other = schema.columns.first(where: { self.folded($0.name) == folded }) {
            throw SluiceError(
                .invalidTable, "the columns \(other.name) and \(name) differ in the case of letters only",
                table: schema.name)
        }
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.unicodeScalars.count <= 128 && !name.utf8.contains(0)
    }

    /// Whether two names are the same code points; Swift's `==` is looser.
    static func isSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }

    /// The bytes of a name with ASCII letters in lower case.
    package static func folded(_ name: String) -> [UInt8] {
        name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    /// Whether a value can be read again once it is written: whether it does not nest too deep.
    static func isShallow(_ value: JSON, _ levels: Int = JSON.maximumDepth) -> Bool {
        switch value.kind {
        case .array: levels > 0 && (value.elements ?? []).allSatisfy { isShallow($0, levels - 1) }
        case .object: levels > 0 && (value.members ?? []).allSatisfy { isShallow($0.value, levels - 1) }
        default: true
        }
    }
}
