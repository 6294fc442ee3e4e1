internal import SluiceCore

/// Operations that go on in another device's queue, and a server that is as it was.
extension OracleState {
    /// What waits for a record is about to be put into another queue: with it go the values that its application wrote.
    mutating func moves(_ operations: [String], of key: RecordKey, from device: Int, to other: Int) {
        for operation in operations {
            transferred.insert(operation)
            // They get places after what that device did before.
            ranks[operation] = nil
            // Their group comes to that queue together, at another moment than to this one.
            if let group = groups[operation] { groupsSince[group] = nil }
        }
        devices[other].offered.formUnion(devices[device].offered.filter { $0.key == key })
        devices[other].shown.formUnion(devices[device].shown.filter { $0.key == key })
    }

    /// They are in the other queue, and given up in this one: what was written here must not be lost there.
    mutating func moved(_ key: RecordKey, from device: Int, to other: Int) {
        guard let claims = devices[device].claims.removeValue(forKey: key) else { return }
        devices[other].claims[key] = claims
        checkClaims(of: key, on: other)
    }

    /// The server's rows are what they were once: what happened since has never happened there, and no device is told.
    ///
    /// - Parameter version: the last that it has given out.
    mutating func restored(_ tables: [String: [RecordID: SimulatedRow]], at version: Int) {
        moment += 1
        restoredAt = version
        clockSteps += 1
        let rows = tables.flatMap { table, rows in rows.values.map { (RecordKey(table: table, id: $0.id), $0) } }
        let alive = Dictionary(uniqueKeysWithValues: rows.filter { !$0.1.isDeleted })
        aliveSince = alive.reduce(into: [:]) { $0[$1.key] = aliveSince[$1.key] ?? moment }
        deletedLast = []
        // What took effect before may do so again.
        effects = [:]
        requestsOn = [:]
        effective = []
    }
}
