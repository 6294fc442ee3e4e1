package import SluiceCore

/// The rules for records from plugins.
package struct RecordCheck: Sendable {
    let dialect: Dialect
    /// The declared columns of the table, if there are any.
    let schema: TableSchema?
    /// The reason why the plugin may not write to the table; nil if it may.
    private var refusal: String?

    package init(dialect: Dialect, schema: TableSchema?) {
        self.dialect = dialect
        self.schema = schema
    }

    /// Returns the check for one plugin, with its permission to write to the table.
    package func of(_ plan: PluginPlan, table: String) -> RecordCheck {
        let permissions = plan.permissions
        guard !permissions.tables.isEmpty else { return self }
        var check = self
        switch permissions.access(to: table) {
        case .readWrite: break
        case .read:
            check.refusal =
                "the plugin may read the table \(table) and not write to it: permissions.tables in plugin.json says "
                + "\"r\" of it, and this takes \"rw\""
        case nil:
            check.refusal =
                "the plugin may not write to the table \(table): permissions.tables in plugin.json names others, and "
                + "this takes \"rw\" for it"
        }
        return check
    }

    /// Whether the plugin may write to the table.
    var mayWrite: Bool { refusal == nil }

    /// Refuses a write to the table if the plugin may not write.
    ///
    /// - Throws: ``ScriptFailure`` of kind `permission`.
    func requireWrite() throws(ScriptFailure) {
        if let refusal { throw ScriptFailure(.permission, refusal) }
    }

    /// Whether the server or the engine sets the property. The case of letters is ignored: many servers ignore it too.
    func isSystem(_ name: PropertyName) -> Bool {
        if dialect.isSystemProperty(name) { return true }
        let columns = dialect.columns
        return ([columns.id] + columns.ofServer).contains { $0.text.lowercased() == name.text.lowercased() }
    }

    /// Returns the declared column of that name, whatever the case of its letters.
    private func column(_ name: PropertyName) -> TableSchema.Column? {
        schema?.column(name) ?? schema?.columns.first { $0.name.text.lowercased() == name.text.lowercased() }
    }

    /// Returns the record if it may replace the records that it was made from.
    ///
    /// - Throws: ``ScriptFailure`` of kind `badResult` that names the field, and the errors of ``requireWrite()``.
    func checked(_ record: JSON, from originals: [JSON?], id: RecordID) throws -> JSON {
        let originals = originals.compactMap { $0 }
        if !originals.contains(record) { try requireWrite() }
        // A partial record would lose the other fields.
        guard record.kind == .object, record["id"]?.textID == id else {
            throw ScriptFailure(.badResult, "a decision takes the whole record with its id: begin with the one you got")
        }
        let given = GivenNumbers(of: originals)
        var members: [(PropertyName, JSON)] = []
        var isRestored = false
        for (name, value) in record.members ?? [] {
            members.append((name, value))
            let places = originals.compactMap { $0[name] }
            if name == "id" || places.contains(value) { continue }
            guard let restored = try checked(value, name, from: places, of: given).restored else { continue }
            members[members.count - 1].1 = restored
            isRestored = true
        }
        return isRestored ? JSON(members: members) : record
    }

    /// Returns the record for an answer if it may replace the original. Missing fields are hidden from the client.
    ///
    /// - Throws: ``ScriptFailure`` of kind `badResult` that names the field.
    func shown(_ record: JSON, from original: JSON) throws -> JSON {
        if record == original { return original }
        // The records of a list may have no id.
        guard record.kind == .object, record["id"] == original["id"] else {
            throw ScriptFailure(.badResult, "an answer's record keeps its id")
        }
        let given = GivenNumbers(of: [original])
        var shown = record
        for (name, value) in record.members ?? [] {
            let place = original[name]
            if place == value { continue }
            if let restored = try checked(value, name, from: place.map { [$0] } ?? [], of: given).restored {
                shown[name] = restored
            }
        }
        return shown
    }

    /// Refuses a record without fields that all sides have: those fields would be lost.
    ///
    /// - Parameters:
    ///   - sides: the records that the hook was given. Fields that all of them have must be in the record.
    ///   - source: the origin of the record, for the refusal.
    ///   - removed: the names of the fields to remove; nil if the result cannot name them.
    /// - Throws: ``ScriptFailure`` of kind `badResult` that names the missing fields.
    func requireWhole(_ record: JSON, of sides: [JSON?], from source: String, removed: [String]?) throws {
        let sides = sides.compactMap { $0 }
        let named = Set((removed ?? []).map(PropertyName.init))
        let missing = (sides.first?.names ?? []).filter { name in
            !isSystem(name) && record[name] == nil && !named.contains(name) && sides.allSatisfy { $0[name] != nil }
        }
        guard let first = missing.first else { return }
        let names = missing.prefix(8).map(\.text).joined(separator: ", ") + (missing.count > 8 ? " …" : "")
        let whose = sides.count > 1 ? "both sides have" : "the record has"
        let way = removed == nil ? "" : ", or say that it is to go with remove = { \"\(first)\" }"
        throw ScriptFailure(
            .badResult, "\(source) leaves out \(names), which \(whose): begin with the record you got\(way)")
    }

    /// Returns the members that a script has set in a row; nil if they change nothing.
    ///
    /// - Throws: the errors of ``checked(_:from:id:)``.
    func checked(members: JSON, of row: PulledRow) throws -> JSON? {
        var checked = members
        var isChanged = false
        lazy var given = GivenNumbers(of: [row.record])
        try members.forEachMember { name, value in
            let name = PropertyName(String(decoding: name, as: UTF8.self))
            let place = row[name]
            if place == value { return }
            try requireWrite()
            let found = try self.checked(value, name, from: place.map { [$0] } ?? [], of: given)
            if let restored = found.restored { checked[name] = restored }
            isChanged = isChanged || found.isChanged
        }
        return isChanged ? checked : nil
    }

    /// Checks a member that differs from the originals.
    ///
    /// - Returns: whether it still differs after long numbers in it are restored, and the restored member if there is
    ///   one.
    private func checked(
        _ value: JSON, _ name: PropertyName, from places: [JSON], of given: @autoclosure () -> GivenNumbers
    ) throws -> (isChanged: Bool, restored: JSON?) {
        var restored: JSON?
        if LongNumbers.mayBeIn(value) {
            let found = given().long.restored(value, from: places)
            if found != value {
                if places.contains(found) { return (false, found) }
                restored = found
            }
        }
        let value = restored ?? value
        guard !isSystem(name) else {
            throw ScriptFailure(.badResult, "the field \(name) is not a plugin's to change")
        }
        try check(value, name, given())
        if let column = column(name), !value.isNull, !Self.fits(value, column.type) {
            throw ScriptFailure(
                .badResult, "the field \(name) of \(schema?.name ?? "") is \(column.type.rawValue), not \(value.kind)")
        }
        return (true, restored)
    }

    /// Refuses whole numbers that a float cannot hold exactly: their value has already changed.
    private func check(_ value: JSON, _ name: PropertyName, _ given: @autoclosure () -> GivenNumbers) throws {
        switch value.kind {
        case .number:
            if let double = GivenNumbers.inexactWhole(value), !given().inexact.contains(double) {
                throw ScriptFailure(
                    .badResult, "the field \(name) is a whole number beyond 2^53 that went through a float")
            }
        case .array: for element in value.elements ?? [] { try check(element, name, given()) }
        case .object: for (_, member) in value.members ?? [] { try check(member, name, given()) }
        default: break
        }
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
