internal import SluiceBase

/// The rules for ids and names that the online tables of all clients of the family share.
enum TableRules {
    /// Checks a table's name, which is one segment of a path, by the rule of ids.
    ///
    /// - Throws: ``SluiceError`` of code `invalidTable`.
    static func validate(table: String) throws(SluiceError) {
        guard IDRules.isValid(id: table) else {
            throw SluiceError(
                .invalidTable,
                "a table's name is 1 to 255 characters, not blank, without control characters and any of \" + ? \\ / `",
                table: table)
        }
    }

    /// Checks the id of a request.
    ///
    /// - Throws: ``SluiceError`` of code `invalidRecord` for a text that is no id, an integer below 1, and
    ///   any integer on a wire that has none.
    static func validate(
        _ id: RecordID, table: String, dialect: Dialect, isNew: Bool = false
    ) throws(SluiceError) {
        switch id {
        case .string: try IDRules.validate(id: id, table: table, isNew: isNew)
        case .integer(let number):
            guard dialect.allowsIntegerIDs else {
                throw refusal("the ids of \(dialect.name) are texts, not integers", table, id)
            }
            guard number > 0 else { throw refusal("an integer id is 1 or more", table, id) }
        }
    }

    /// Returns the id of a record. It is nil if it is absent, null, or 0, which means in a typed record that it has
    /// none yet.
    ///
    /// - Throws: ``SluiceError`` of code `invalidRecord` for a value that is no object, for an id that is not allowed,
    ///   and for a text named `Id`, `ID` or `iD`, because a server would use it as the id; on a wire with key
    ///   properties of their own names it is allowed.
    static func id(
        of record: JSON, table: String, dialect: Dialect, isNew: Bool = false
    ) throws(SluiceError) -> RecordID? {
        guard record.kind == .object else { throw refusal("a record is a JSON object", table, nil) }
        let column = dialect.columns.id
        for name in record.names where !dialect.namesKeys && name != column && name.text.lowercased() == column.text {
            if record[name]?.string != nil {
                throw refusal("'\(name)' is not '\(column)': write the id's name in small letters", table, nil)
            }
        }
        let id: RecordID
        switch record[column] {
        case nil, .some(.null): return nil
        case let value?:
            if let text = value.string {
                id = .string(text)
            } else if let number = value.int {
                if number == 0 { return nil }
                id = .integer(number)
            } else {
                throw refusal("a record's id is a text or an integer", table, nil)
            }
        }
        try validate(id, table: table, dialect: dialect, isNew: isNew)
        return id
    }

    /// Returns the id of a record that must have one.
    ///
    /// - Throws: as ``id(of:table:dialect:)``, and if there is none.
    static func requiredID(of record: JSON, table: String, dialect: Dialect) throws(SluiceError) -> RecordID {
        guard let id = try id(of: record, table: table, dialect: dialect) else {
            throw refusal("the record has no id", table, nil)
        }
        return id
    }

    static func refusal(_ message: String, _ table: String, _ id: RecordID?) -> SluiceError {
        SluiceError(.invalidRecord, message, table: table, recordID: id)
    }
}
