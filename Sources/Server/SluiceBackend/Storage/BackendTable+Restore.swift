internal import SluiceCore

extension BackendTable {
    /// Gives the records of all tables new times, later than any in the lost part of the history, and skips the numbers
    /// assigned there.
    ///
    /// - Parameter mark: the last commit of that history, if known.
    /// - Returns: the number of records.
    static func stampAnew(
        _ tables: some Sequence<BackendTable>, _ mark: LastCommit?, now: Timestamp, _ connection: any StorageConnection
    ) throws -> Int {
        try BackendCatalog.skipLostNumbers(mark, connection)
        let floor = max(now, mark?.latest ?? now)
        return try tables.reduce(0) { try $0 + $1.stampAnew(after: floor, connection) }
    }

    /// The distance of the new times: ten a millisecond, so that pages can begin between them.
    private static let step = Timestamp.ticksPerSecond / 10_000

    /// Gives each record a new time, later than `floor` and every other of the table, in the order of the old ones.
    ///
    /// Clients that read by time have seen lost changes, so they would not request the present records. The versions
    /// stay, because they still name the same states.
    ///
    /// - Returns: the number of records.
    private func stampAnew(after floor: Timestamp, _ connection: any StorageConnection) throws -> Int {
        let border = max(floor, try BackendCatalog.changes(of: name, connection).latest)
        let old = TableQuery(
            name, filter: .binary(.le, .column(SystemColumn.updatedAt), .literal(.date(border))),
            order: [.init(SystemColumn.updatedAt)], top: Self.expiryBatch)
        var (time, count) = (border, 0)
        while true {
            let batch = try records(matching: old, connection)
            for var record in batch {
                time = Timestamp(ticks: time.ticks + Self.step)
                record[SystemColumn.updatedAt] = JSON(time.description)
                try store(record, connection)
            }
            count += batch.count
            if batch.isEmpty { break }
        }
        try BackendCatalog.noteChange(of: name, at: time, connection)
        return count
    }
}

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
