public import SluiceBase

/// The checks of every store, so that all stores accept the same records.
///
/// For authors of a ``LocalStore`` that is not built on another one: calling these checks when declaring tables and
/// putting records throws the required errors. Names and ids are equal only if their bytes are. Swift's `==` and
/// dictionaries of strings compare otherwise.
///
/// ```swift
/// // in define(_:), where `held` is the table as it is declared so far, and nil in redeclare(_:)
/// let schema = try StoreRules.merge(table, into: held)
/// // in put(_:in:)
/// try StoreRules.check(table: name)
/// let id = try StoreRules.id(of: record, in: name)
/// ```
public enum StoreRules {
    /// The columns that a store keeps beside the declared ones. No declared column may have such a name, in upper or
    /// lower case. Properties of a record may still have these names.
    public static let reservedColumns = ["id", "_extra", "_absent"]

    /// Checks the name of a table when it is declared or written to.
    ///
    /// - Throws: ``SluiceError`` of code `invalidTable` unless the name has 1 to 128 characters (Unicode scalars) and
    ///   no NUL.
    public static func check(table name: String) throws(SluiceError) {
        guard isName(name) else {
            throw SluiceError(.invalidTable, "a table's name has 1 to 128 characters and no NUL", table: name)
        }
    }

    /// Checks a record before it is put, and returns its id.
    ///
    /// - Parameter table: the table named in the error.
    /// - Throws: ``SluiceError`` of code `invalidRecord` for a value that is no object, has no string `id` or an empty
    ///   one, or nests deeper than ``JSON/maximumDepth``.
    public static func id(of record: JSON, in table: String) throws(SluiceError) -> RecordID {
        guard record.kind == .object else {
            throw SluiceError(.invalidRecord, "a record is a JSON object", table: table)
        }
        guard let id = record["id"]?.textID, !id.isEmpty else {
            throw SluiceError(.invalidRecord, "a record has a string id that is not empty", table: table)
        }
        guard isShallow(record) else {
            throw SluiceError(
                .invalidRecord, "the record nests deeper than \(JSON.maximumDepth) levels", table: table, recordID: id)
        }
        return id
    }

    /// Returns `held` with the columns and indexes of `wanted` added; none is removed.
    ///
    /// - Parameter held: the table as it is declared so far; nil for a new table or a new declaration.
    /// - Throws: ``SluiceError`` of code `invalidTable` for names that are not allowed, for columns that differ in the
    ///   case of ASCII letters only, and for an index over an undeclared column; `storeSchema` where a column has
    ///   another type already.
    public static func merge(_ wanted: TableSchema, into held: TableSchema?) throws(SluiceError) -> TableSchema {
        try check(table: wanted.name)
        var merged = held ?? TableSchema(wanted.name)
        // A dictionary instead of a search, because an import may declare very many columns.
        var types = Dictionary(merged.columns.map { ($0.name, $0.type) }) { first, _ in first }
        var names = Dictionary(merged.columns.map { (folded($0.name.text), $0.name) }) { first, _ in first }
        for column in wanted.columns {
            if let known = types[column.name] {
                guard known == column.type else {
                    throw SluiceError(
                        .storeSchema,
                        "column \(column.name) holds \(known.rawValue) and is declared as \(column.type.rawValue); "
                            + "a migration that retypes the column (retype \(column.name) to \(column.type.rawValue)) "
                            + "changes its type", table: wanted.name)
                }
                continue
            }
            try check(column: column.name, of: wanted.name, beside: names)
            merged.columns.append(column)
            types[column.name] = column.type
            names[folded(column.name.text)] = column.name
        }
        var indexes = Set(merged.indexes)
        for index in wanted.indexes where !indexes.contains(index) {
            for name in index where name != "id" && types[name] == nil {
                throw SluiceError(
                    .invalidTable, "an index wants the column \(name), which is not declared", table: wanted.name)
            }
            if index.isEmpty { continue }
            merged.indexes.append(index)
            indexes.insert(index)
        }
        return merged
    }

    /// Checks a column's name, also against names that differ in the case of ASCII letters only: databases treat these
    /// as equal.
    ///
    /// - Parameter names: the table's columns, each under its folded name.
    private static func check(
        column name: PropertyName, of table: String, beside names: [[UInt8]: PropertyName]
    ) throws(SluiceError) {
        guard isName(name.text) else {
            throw SluiceError(.invalidTable, "a column's name has 1 to 128 characters and no NUL", table: table)
        }
        let folded = folded(name.text)
        if reservedColumns.contains(where: { self.folded($0) == folded }) {
            throw SluiceError(.invalidTable, "the column name \(name) is the store's own", table: table)
        }
        if let other = names[folded] {
            throw SluiceError(
                .invalidTable, "the columns \(other) and \(name) differ in the case of letters only", table: table)
        }
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.unicodeScalars.count <= 128 && !name.utf8.contains(0)
    }

    /// Returns the bytes of a name with ASCII letters in lower case.
    package static func folded(_ name: String) -> [UInt8] {
        name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    /// Whether a value can be read back after writing, which fails if it nests too deep.
    static func isShallow(_ value: JSON, _ levels: Int = JSON.maximumDepth) -> Bool {
        switch value.kind {
        case .array: levels > 0 && (value.elements ?? []).allSatisfy { isShallow($0, levels - 1) }
        case .object:
            levels > 0
                && (!hasContainers(value) || (value.members ?? []).allSatisfy { isShallow($0.value, levels - 1) })
        default: true
        }
    }

    /// Whether a member of the object is an array or an object. Few records have one, and reading member values is
    /// expensive.
    private static func hasContainers(_ object: JSON) -> Bool {
        var found = false
        object.visitMembers { _, isContainer in found = found || isContainer }
        return found
    }
}
