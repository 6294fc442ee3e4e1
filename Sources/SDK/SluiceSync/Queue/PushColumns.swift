package import SluiceBase
package import SluiceWire

/// The names of the columns with a meaning in the wire, and how a server treats a record's properties.
@dynamicMemberLookup
package struct PushColumns: Sendable, Hashable {
    /// The wire's own names.
    let names: SystemColumns
    /// All names that only the server sets, except for the id.
    package private(set) var system: Set<PropertyName>
    /// Whether an update replaces the record: a property that its body does not name is then removed.
    package let replaces: Bool
    /// Further properties that the server sets, by table.
    let serverSet: [String: Set<PropertyName>]
    /// Whether an answer of 204 proves that the server made the change; otherwise a proxy in between may have sent it.
    let takesNoContent: Bool

    package init(
        _ names: SystemColumns, replaces: Bool = false, serverSet: [String: Set<PropertyName>] = [:],
        takesNoContent: Bool = false
    ) {
        self.names = names
        system = names.system
        self.replaces = replaces
        self.serverSet = serverSet
        self.takesNoContent = takesNoContent
    }

    package var id: PropertyName { names.id }

    package subscript<Value>(dynamicMember name: KeyPath<SystemColumns, Value>) -> Value { names[keyPath: name] }

    /// Returns the columns for judging a record of that table. Properties that its server sets by itself are no
    /// evidence of a change.
    func judging(_ table: String) -> PushColumns {
        guard let names = serverSet[table] else { return self }
        var columns = self
        columns.system.formUnion(names)
        return columns
    }

    /// Returns the record with the values of the record that it follows in the properties that the server sets by
    /// itself; a creation follows none, and has no such value. A value counts as the server's if one of the seen copies
    /// has it; any other value is the application's, and stays.
    func renewed(_ record: JSON, in table: String, seen: [JSON?], by found: JSON?) -> JSON {
        var record = record
        for name in serverSet[table] ?? [] {
            guard let value = record[name], seen.contains(where: { $0?[name] == value }) else { continue }
            record[name] = found?[name]
        }
        return record
    }

    /// Whether a value of a time that the server sets is none, or an older one of the server's, and so no change.
    func isStale(_ value: JSON?, beside newer: JSON?) -> Bool {
        guard let value, !value.isNull else { return true }
        let times = [value, newer].compactMap { $0?.string.flatMap { Timestamp($0) } }
        return times.count == 2 && times[0] < times[1]
    }

    /// Returns the record without the properties that hold its own time of change: a server has set them, and a record that
    /// is made once more has none.
    func unset(_ record: JSON, in table: String, of local: JSON?) -> JSON {
        let times = times(of: local, in: table)
        return record.without(Set(times.names.filter { record[$0] == times[$0] }))
    }

    /// Returns the properties that hold the record's own time of change.
    func times(of record: JSON?, in table: String) -> JSON {
        guard let time = record?[names.updatedAt], !time.isNull else { return .object }
        let own = (serverSet[table] ?? []).filter { record?[$0] == time }
        return JSON(members: own.sorted().map { ($0, time) })
    }

    /// Returns the system properties that a record has from another wire: a store whose wire was changed holds such
    /// records until they are pulled once more. A record of this wire has its own; a time of creation that the server's
    /// record lacks is the other wire's, unless it was changed here.
    ///
    /// - Parameters:
    ///   - local: the changed record, if there is one.
    ///   - server: the server's record by this wire, as far as known.
    func foreign(in record: JSON?, local: JSON?, beside server: JSON?) -> Set<PropertyName> {
        guard let record else { return [] }
        if system.contains(where: { record[$0] != nil }) {
            guard let server, server["createdAt"] == nil, let time = record["createdAt"],
                time.string.flatMap({ Timestamp($0) }) != nil
            else { return [] }
            return (local?["createdAt"] ?? time) == time ? ["createdAt"] : []
        }
        let others = Dialect.all.map(\.columns).filter { wire in
            wire.version != names.version && record[wire.version]?.string != nil
                && record[wire.updatedAt]?.string.flatMap { Timestamp($0) } != nil
        }
        return others.reduce(into: []) { $0.formUnion($1.system) }
    }

    func id(_ record: JSON) -> RecordID? { record[names.id]?.textID }
    func isDeleted(_ record: JSON) -> Bool { record[names.deleted]?.flag == true }

    /// Whether the one record has no later time than the other, as after a restore of the server from a backup.
    func isNoLater(_ record: JSON, than other: JSON?) -> Bool {
        let times = [record, other].compactMap { $0?[names.updatedAt]?.string.flatMap { Timestamp($0) } }
        return times.count == 2 && times[0] <= times[1]
    }

    /// Whether the two records have different times of creation, so that the id was given to a new record since.
    func isRemade(_ record: JSON, since other: JSON?) -> Bool {
        guard let createdAt = names.createdAt else { return false }
        let times = [record, other].compactMap { $0?[createdAt]?.string.flatMap { Timestamp($0) } }
        // Answers of one server may give times with different precision.
        return times.count == 2 && abs(times[0].ticks - times[1].ticks) >= Timestamp.ticksPerSecond / 1000
    }

    /// Whether the record has every value that was sent. Null and absent are the same here: servers differ in which
    /// of the two they write.
    ///
    /// - Parameter forms: the known ways in which the server rewrites sent values.
    func holds(_ record: JSON, _ sent: JSON, _ forms: [PropertyName: Set<WrittenForm>]) -> Bool {
        (sent.members ?? []).allSatisfy { name, value in
            let written = record[name] ?? .null
            return name == names.id || system.contains(name) || written == value
                || forms[name]?.contains { $0.leads(from: value, to: written) } ?? false
                || WrittenForm.sameInstant.leads(from: value, to: written)
                || value.isNull && isKey(written, of: record)
        }
    }

    /// Whether the records have the same values, however servers write them, apart from system properties.
    func isSame(_ record: JSON, as other: JSON) -> Bool {
        isDeleted(record) == isDeleted(other) && holds(record, other) && holds(other, record)
    }

    /// Whether the record has every value of the other, however servers write them. Null and absent are the same.
    func holds(_ record: JSON, _ other: JSON) -> Bool {
        let forms = other.names.map { ($0, Set(WrittenForm.allCases)) }
        return holds(record, other, Dictionary(forms) { first, _ in first })
    }

    /// Whether the value is the record's id. A property with it is the wire's own key, which no change can remove.
    private func isKey(_ value: JSON, of record: JSON) -> Bool {
        guard let id = record[names.id]?.textID else { return false }
        return value.textID == id || value.int.map { RecordID(String($0)) } == id
    }
}

extension Dialect {
    /// The columns with a meaning on the wire, as needed by a push.
    package var pushColumns: PushColumns {
        PushColumns(columns, replaces: !patchesUpdates, serverSet: serverSet, takesNoContent: !keepsDeleted)
    }
}
