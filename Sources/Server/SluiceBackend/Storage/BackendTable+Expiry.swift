internal import SluiceCore

extension BackendTable {
    /// The number of records in one transaction, small so that requests do not wait long.
    static let expiryBatch = 500

    /// Removes records expired at `now`, at most ``expiryBatch`` of each kind. Expired records become tombstones, so
    /// that pulls learn of it, or are removed if the table keeps none. Expired tombstones are removed.
    ///
    /// - Returns: the number of changed or removed records.
    func expire(now: Timestamp, _ connection: any StorageConnection) throws -> Int {
        var count = 0
        if let interval = rules.recordsExpire {
            count += try expireRecords(before: now.advanced(by: .zero - interval), now, connection)
        }
        if rules.softDelete, let interval = rules.tombstonesExpire ?? rules.recordsExpire {
            count += try removeTombstones(before: now.advanced(by: .zero - interval), now, connection)
        }
        return count
    }

    private func expireRecords(before border: Timestamp, _ now: Timestamp, _ connection: any StorageConnection) throws
        -> Int
    {
        let expired = try records(
            matching: TableQuery(
                name, filter: Self.isOld(SystemColumn.createdAt, border, deleted: false), top: Self.expiryBatch),
            connection)
        for var record in expired {
            guard let id = record["id"]?.textID else { continue }
            if rules.softDelete {
                record[SystemColumn.deleted] = true
                _ = try put(record, now: now, connection)
            } else {
                try remove(id, now: now, connection)
            }
        }
        return expired.count
    }

    private func removeTombstones(
        before border: Timestamp, _ now: Timestamp, _ connection: any StorageConnection
    ) throws -> Int {
        let query = TableQuery(
            name, filter: Self.isOld(SystemColumn.updatedAt, border, deleted: true), top: Self.expiryBatch,
            select: ["id"])
        let ids = try records(matching: query, connection).compactMap { $0["id"]?.textID }
        for id in ids { try remove(id, now: now, connection) }
        return ids.count
    }

    private static func isOld(_ column: PropertyName, _ border: Timestamp, deleted: Bool) -> QueryExpression {
        .binary(
            .and, .binary(.eq, .column(SystemColumn.deleted), .literal(.bool(deleted))),
            .binary(.le, .column(column), .literal(.date(border))))
    }
}
