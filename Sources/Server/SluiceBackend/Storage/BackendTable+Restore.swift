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
