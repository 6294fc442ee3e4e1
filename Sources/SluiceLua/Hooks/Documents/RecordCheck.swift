internal import SluiceCore

/// What a plugin may make of a record.
struct RecordCheck: Sendable {
    let dialect: Dialect
    /// The declared columns of the table, if there are any.
    let schema: TableSchema?

    /// Whether the server or the engine sets the property.
    func isSystem(_ name: String) -> Bool { name == "id" || dialect.isSystemProperty(name) }

    /// The record, if it may stand in the place of those that it was made from.
    ///
    /// - Throws: ``ScriptFailure`` of kind `badResult` that names the field.
    func checked(_ record: JSON, from originals: [JSON?], id: String) throws -> JSON {
        let originals = originals.compactMap { $0 }
        var record = record
        // A part of a record would be the loss of the rest.
        guard record.kind == .object, record["id"]?.string == id else {
            throw ScriptFailure(.badResult, "a decision takes the whole record with its id: begin with the one you got")
        }
        for (name, value) in record.members ?? [] {
            if originals.contains(where: { $0[name] == value }) { continue }
            if name == "id" { continue }
            let restored = LongNumbers.restored(value, from: originals.compactMap { $0[name] }, of: originals)
            if restored != value {
                record[name] = restored
                if originals.contains(where: { $0[name] == restored }) { continue }
            }
            guard !isSystem(name) else {
                throw ScriptFailure(.badResult, "the field \(name) is not a plugin's to change")
            }
            try check(restored, name, originals)
            if let column = schema?.column(name), !restored.isNull, !Self.fits(restored, column.type) {
                throw ScriptFailure(
                    .badResult,
                    "the field \(name) of \(schema?.name ?? "") is \(column.type.rawValue), not \(restored.kind)")
            }
        }
        return record
    }

    /// Refuses whole numbers that a float cannot hold exactly: they were another number before.
    private func check(_ value: JSON, _ name: String, _ originals: [JSON]) throws {
        switch value.kind {
        case .number:
            if case .double(let double)? = value.number?.storage, double.magnitude > 0x1p53, double == double.rounded(),
                !originals.contains(where: { Self.holds(value, $0) })
            {
                throw ScriptFailure(
                    .badResult, "the field \(name) is a whole number beyond 2^53 that went through a float")
            }
        case .array: for element in value.elements ?? [] { try check(element, name, originals) }
        case .object: for (_, member) in value.members ?? [] { try check(member, name, originals) }
        default: break
        }
    }

    /// Whether a value is, or has somewhere inside, that number: then it is no script's.
    private static func holds(_ number: JSON, _ value: JSON) -> Bool {
        value == number || (value.elements ?? []).contains { holds(number, $0) }
            || (value.members ?? []).contains { holds(number, $0.value) }
    }

    private static func fits(_ value: JSON, _ type: TableSchema.ColumnType) -> Bool {
        switch type {
        case .string: value.kind == .string
        case .integer: value.int != nil
        case .real: value.kind == .number
        case .boolean: value.kind == .bool
        case .date: value.string.flatMap { Timestamp($0) } != nil
        case .json: value.kind == .object || value.kind == .array
        }
    }
}
