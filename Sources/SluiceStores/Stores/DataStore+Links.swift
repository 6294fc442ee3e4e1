public import SluiceBase
internal import SluiceSync

extension DataStore {
    /// The ids of what a record is linked to by a navigation property.
    public func links(
        of id: some RecordIDConvertible, in table: String, along name: PropertyName
    ) async throws -> [RecordID] {
        var request = StoreRequest(table, key: id.recordID)
        request.path.segments += [.init(name.text), .init("$ref")]
        return try await read(request, ReadOptions()).records.compactMap { $0["id"]?.textID }
    }

    /// Links a record to another: that one takes the place of the one before where the property leads to one only.
    public func link(
        _ id: some RecordIDConvertible, in table: String, along name: PropertyName, to other: some RecordIDConvertible
    ) async throws {
        try await change(
            LinkChange(id.recordID, table, try StoreSchemas(tables).reference(name, of: table), other.recordID),
            isAdded: true)
    }

    /// Ends a link between two records. The records stay.
    public func unlink(
        _ id: some RecordIDConvertible, in table: String, along name: PropertyName, from other: some RecordIDConvertible
    ) async throws {
        try await change(
            LinkChange(id.recordID, table, try StoreSchemas(tables).reference(name, of: table), other.recordID),
            isAdded: false)
    }

    /// A link is a property of one of the two records, so that changing the link is a change of that record.
    private func change(_ link: LinkChange, isAdded: Bool) async throws {
        let reference = link.reference
        let (holder, column, target, targetColumn) =
            reference.isCollection
            ? ((link.other, reference.table), reference.targetColumn, (link.id, link.table), reference.column)
            : ((link.id, link.table), reference.column, (link.other, reference.table), reference.targetColumn)
        var value = JSON.null
        if isAdded {
            let known = targetColumn == "id" ? nil : try await record(target.0, in: target.1)
            let linked = known.map { LinkValue($0, by: targetColumn, reference) } ?? LinkValue(target.0)
            guard let linked else {
                throw SluiceError(
                    .invalidRecord, "the record has no \(targetColumn) to be linked by", table: target.1,
                    recordID: target.0)
            }
            value = linked.json(for: column, of: StoreSchemas(tables)[holder.1])
        }
        try await patch(
            JSON(members: [("id", JSON(holder.0.text)), (column, value)] as [(PropertyName, JSON)]), in: holder.1,
            options: OperationOptions())
    }
}

/// A link that is made or ended.
private struct LinkChange {
    let id: RecordID
    let table: String
    let reference: TableSchema.Reference
    let other: RecordID

    init(_ id: RecordID, _ table: String, _ reference: TableSchema.Reference, _ other: RecordID) {
        (self.id, self.table, self.reference, self.other) = (id, table, reference, other)
    }
}
