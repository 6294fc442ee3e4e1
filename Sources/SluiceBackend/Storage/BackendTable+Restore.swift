internal import SluiceCore

extension BackendTable {
    /// How far apart records are stamped anew: ten a millisecond, so that they page well.
    private static let step = Timestamp.ticksPerSecond / 10_000

    /// Gives each record a new time, later than `floor` and every other of the table, in the order of the old ones.
    ///
    /// Clients that read by time have heard of changes that the database has lost, so they would ask for none of what
    /// is there now. The versions stay: they still name the states that they named.
    ///
    /// - Returns: how many records there are.
    func stampAnew(after floor: Timestamp, _ connection: any StorageConnection) throws -> Int {
        let border = max(floor, try BackendCatalog.changes(of: name, connection).latest)
        let old = Query(
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
