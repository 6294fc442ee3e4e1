package import SluiceBase

/// The names of the columns that the wire gives a meaning.
package struct PushColumns: Sendable, Hashable {
    package var id: PropertyName
    package var version: PropertyName
    package var deleted: PropertyName
    package var updatedAt: PropertyName
    /// When the server made the record; nil on a wire that does not tell it.
    package var createdAt: PropertyName?
    /// All names that only the server sets, the id not among them.
    package var system: Set<PropertyName>
    /// Whether an update replaces the record: a property that its body does not name is gone then.
    package var replaces: Bool
    /// Properties that the server sets besides those, under names of their own in each table.
    var serverSet: [String: Set<PropertyName>]
    /// Whether an answer of 204 is the server's word that a change was done; else something in between may give it.
    var takesNoContent: Bool

    package init(
        id: PropertyName, version: PropertyName, deleted: PropertyName, updatedAt: PropertyName = "updatedAt",
        createdAt: PropertyName? = nil, system: Set<PropertyName>, replaces: Bool = false,
        serverSet: [String: Set<PropertyName>] = [:], takesNoContent: Bool = false
    ) {
        self.id = id
        self.version = version
        self.deleted = deleted
        self.updatedAt = updatedAt
        self.createdAt = createdAt
        self.system = system
        self.replaces = replaces
        self.serverSet = serverSet
        self.takesNoContent = takesNoContent
    }

    /// These to judge a record of that table by: what its server sets there by itself is no evidence of a change.
    func judging(_ table: String) -> PushColumns {
        guard let names = serverSet[table] else { return self }
        var columns = self
        columns.system.formUnion(names)
        return columns
    }

    /// The record to be made anew, without what the server once set in it by itself: a value that one of those seen has.
    /// Another value is the application's wish.
    func anew(_ record: JSON, in table: String, seen: [JSON?]) -> JSON {
        var record = record
        for name in serverSet[table] ?? [] where seen.contains(where: { $0?[name] == record[name] }) {
            record[name] = nil
        }
        return record
    }

    /// Returns the record without the properties that hold its own time of change: a server has set them, and a record that
    /// is made once more has none.
    func unset(_ record: JSON, in table: String, of local: JSON?) -> JSON {
        guard let time = local?[updatedAt], !time.isNull else { return record }
        return record.without(serverSet[table]?.filter { record[$0] == time })
    }

    func id(_ record: JSON) -> RecordID? { record[id]?.textID }
    func isDeleted(_ record: JSON) -> Bool { record[deleted]?.bool == true }

    /// Whether the one record is of an earlier time than the other, as where the server was restored from a backup.
    func isEarlier(_ record: JSON, than other: JSON?) -> Bool {
        let times = [record, other].compactMap { $0?[updatedAt]?.string.flatMap { Timestamp($0) } }
        return times.count == 2 && times[0] < times[1]
    }

    /// Whether the server has made the one record at another time than the other: the id was given to a new one since.
    func isRemade(_ record: JSON, since other: JSON?) -> Bool {
        guard let createdAt else { return false }
        let times = [record, other].compactMap { $0?[createdAt]?.string.flatMap { Timestamp($0) } }
        // Not every answer of a server tells times with the same precision.
        return times.count == 2 && abs(times[0].ticks - times[1].ticks) >= Timestamp.ticksPerSecond / 1000
    }

    /// Whether the record has every value that was sent. Null and absent are the same here: servers differ in which
    /// of the two they write.
    ///
    /// - Parameter forms: how the server is known to write values otherwise than they are sent.
    func holds(_ record: JSON, _ sent: JSON, _ forms: [PropertyName: Set<WrittenForm>]) -> Bool {
        (sent.members ?? []).allSatisfy { name, value in
            let written = record[name] ?? .null
            return name == id || system.contains(name) || written == value
                || forms[name]?.contains { $0.leads(from: value, to: written) } ?? false
                || value.isNull && isKey(written, of: record)
        }
    }

    /// Whether the value is the record's id: a property of that name is the key of a wire's own, which no change takes
    /// away.
    private func isKey(_ value: JSON, of record: JSON) -> Bool {
        guard let id = record[id]?.textID else { return false }
        return value.textID == id || value.int.map { RecordID(String($0)) } == id
    }
}
