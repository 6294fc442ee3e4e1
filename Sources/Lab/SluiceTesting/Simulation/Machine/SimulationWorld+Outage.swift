internal import SluiceCore

extension SimulationWorld {
    /// Checks L1 while one table fails: the other table's operations are sent, and its rows are pulled.
    func pushBesideFailingTable() throws {
        guard parts.faults.allows(.tableFails), parts.setting.dependency == .none else { return }
        let tables = ["items", "notes"]
        let (failing, other) = story.seed % 2 == 0 ? (tables[0], tables[1]) : (tables[1], tables[0])
        // A token that was refused a moment ago is replaced once the client's cool-down is over.
        parts.clock.advance(milliseconds: 10_000)
        parts.server.breakDown(failing)
        defer { parts.server.mend() }
        for device in devices {
            let before = device.free(in: other)
            try complete { await device.push() }
            try complete {
                for (index, query) in device.queries().enumerated() where query.table == other {
                    await device.pull(index)
                }
            }
            // New operations, such as the delete of a record whose discarded insert was done, may go with the next
            // push.
            if let left = device.free(in: other).first(where: { before[$0.key] != nil })?.value {
                parts.oracle.violate(
                    .queueDrains, "device \(device.index) has not sent \(left), while \(failing) fails")
            }
        }
    }
}

extension SimulatedDevice {
    /// Returns the operations of a table that nothing bars from being sent, by their ids.
    fileprivate func free(in table: String) -> [RecordID: String] {
        let user = process.user
        return parts.oracle.view(of: index) { view in
            let operations = view.operations.values.flatMap(\.values).filter { $0.key.table == table }
            // A group may have a part in the failing table, and then also holds the later operations of its records.
            let barred = Set(operations.filter { $0.group != nil || $0.isBarred(to: user) }.map(\.key))
            let free = operations.filter { !barred.contains($0.key) }
            return Dictionary(free.map { (RecordID($0.id), $0.description) }) { first, _ in first }
        }
    }
}
