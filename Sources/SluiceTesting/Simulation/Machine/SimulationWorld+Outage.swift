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
            let known = device.single(in: other)
            try complete { await device.push() }
            try complete {
                for (index, query) in device.queries().enumerated() where query.table == other {
                    await device.pull(index)
                }
            }
            // What a page has brought to light, such as the delete of a record whose discarded insert was done, goes next.
            if let left = device.firstFree(in: other, among: known) {
                parts.oracle.violate(
                    .queueDrains, "device \(device.index) has not sent \(left), while \(failing) fails")
            }
        }
    }
}

extension SimulatedDevice {
    /// The names of the operations of a table that are in no group: a decision may take a group apart, and then the next
    /// push sends the rest of it.
    fileprivate func single(in table: String) -> Set<String> {
        parts.oracle.view(of: index) { view in
            let operations = view.operations.values.flatMap(\.values)
            return Set(operations.filter { $0.key.table == table && $0.group == nil }.map(\.id))
        }
    }

    /// An operation of a table that nothing speaks against sending, among those.
    fileprivate func firstFree(in table: String, among known: Set<String>) -> String? {
        let user = process.user
        return parts.oracle.view(of: index) { view in
            let operations = view.operations.values.flatMap(\.values)
                .filter { $0.key.table == table && known.contains($0.id) }
            // A group may have a part of the table that fails, and then keeps what follows on its own.
            let barred = Set(operations.filter { $0.group != nil || $0.isBarred(to: user) }.map(\.key))
            return operations.first { !barred.contains($0.key) }?.description
        }
    }
}
