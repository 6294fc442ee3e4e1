internal import SluiceCore

/// What a plugin may make of a record.
struct RecordCheck: Sendable {
    let dialect: Dialect
    /// The declared columns of the table, if there are any.
    let schema: TableSchema?
    /// Why the plugin may not write to the table; nil where it may.
    private var refusal: String?

    init(dialect: Dialect, schema: TableSchema?) {
        self.dialect = dialect
        self.schema = schema
    }

    /// The check of a plugin, which may write to the table as its permissions say.
    func of(_ plan: PluginPlan, table: String) -> RecordCheck {
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

    /// Refuses what writes to the table, where the plugin may not.
    ///
    /// - Throws: ``ScriptFailure`` of kind `permission`.
    func requireWrite() throws(ScriptFailure) {
        if let refusal { throw ScriptFailure(.permission, refusal) }
    }

    /// Whether the server or the engine sets the property.
    func isSystem(_ name: String) -> Bool { name == "id" || dialect.isSystemProperty(name) }

    /// The record, if it may stand in the place of those that it was made from.
    ///
    /// - Throws: ``ScriptFailure`` of kind `badResult` that names the field, and as ``requireWrite()``.
    func checked(_ record: JSON, from originals: [JSON?], id: String) throws -> JSON {
        let originals = originals.compactMap { $0 }
        if !originals.contains(record) { try requireWrite() }
        var record = record
        // A part of a record would be the loss of the rest.
        guard record.kind == .object, record["id"]?.string == id else {
            throw ScriptFailure(.badResult, "a decision takes the whole record with its id: begin with the one you got")
        }
        for (name, value) in record.members ?? [] where name != "id" {
            let places = originals.compactMap { $0[name] }
            if places.contains(value) { continue }
            let checked = try checked(value, name, from: places) { originals }
            if let restored = checked.restored { record[name] = restored }
        }
        return record
    }

    /// The members that a script has set, if they may stand in a row; nil if that changes nothing.
    ///
    /// - Throws: as ``checked(_:from:id:)``.
    func checked(members: JSON, of row: PulledRow) throws -> JSON? {
        var checked = members
        var isChanged = false
        try members.forEachMember { name, value in
            let name = String(decoding: name, as: UTF8.self)
            let place = row[name]
            if place == value { return }
            try requireWrite()
            let found = try self.checked(value, name, from: place.map { [$0] } ?? []) { [row.record] }
            if let restored = found.restored { checked[name] = restored }
            isChanged = isChanged || found.isChanged
        }
        return isChanged ? checked : nil
    }

    /// Checks a member that differs from those of the originals.
    ///
    /// - Returns: whether it still does when long numbers in it are restored; and then the member with those numbers.
    private func checked(
        _ value: JSON, _ name: String, from places: [JSON], of originals: () -> [JSON]
    ) throws -> (isChanged: Bool, restored: JSON?) {
        var restored: JSON?
        if LongNumbers.mayBeIn(value) {
            let found = LongNumbers.restored(value, from: places, of: originals())
            if found != value {
                if places.contains(found) { return (false, found) }
                restored = found
            }
        }
        let value = restored ?? value
        guard !isSystem(name) else {
            throw ScriptFailure(.badResult, "the field \(name) is not a plugin's to change")
        }
        try check(value, name, originals)
        if let column = schema?.column(name), !value.isNull, !Self.fits(value, column.type) {
            throw ScriptFailure(
                .badResult, "the field \(name) of \(schema?.name ?? "") is \(column.type.rawValue), not \(value.kind)")
        }
        return (true, restored)
    }

    /// Refuses whole numbers that a float cannot hold exactly: they were another number before.
    private func check(_ value: JSON, _ name: String, _ originals: () -> [JSON]) throws {
        switch value.kind {
        case .number:
            if case .double(let double)? = value.number?.storage, double.magnitude > 0x1p53, double == double.rounded(),
                !originals().contains(where: { Self.holds(value, $0) })
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
