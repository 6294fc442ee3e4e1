internal import SluiceCore

extension SimulationWorld {
    /// L1 where one of the tables fails and all else is well: what waits for the other one is sent, and its rows come.
    func pushBesideFailingTable() throws {
        guard parts.faults.allows(.tableFails), parts.setting.dependency == .none else { return }
        let tables = ["items", "notes"]
        let (failing, other) = story.seed % 2 == 0 ? (tables[0], tables[1]) : (tables[1], tables[0])
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
            // What a decision or a page has made, such as the delete of a record whose discarded insert was done, goes next.
            if let left = device.free(in: other).first(where: { before[$0.key] != nil })?.value {
                parts.oracle.violate(
                    .queueDrains, "device \(device.index) has not sent \(left), while \(failing) fails")
            }
        }
    }
}

extension SimulatedDevice {
    /// The operations of a table that nothing speaks against sending, by their ids.
    fileprivate func free(in table: String) -> [RecordID: String] {
        let user = process.user
        return parts.oracle.view(of: index) { view in
            let operations = view.operations.values.flatMap(\.values).filter { $0.key.table == table }
            // A group may have a part of the table that fails, and then keeps what follows on its own.
            let barred = Set(operations.filter { $0.group != nil || $0.isBarred(to: user) }.map(\.key))
            let free = operations.filter { !barred.contains($0.key) }
            return Dictionary(free.map { (RecordID($0.id), $0.description) }) { first, _ in first }
        }
    }
}
