internal import SluiceCore
internal import Synchronization

/// A table that answers nothing for a while.
struct TableOutage {
    let table: String
    let status: Int
    /// How many requests it lasts; nil until somebody mends it.
    var left: Int?

    private static let statuses = [404, 403, 500]

    init(_ table: String, choosing luck: SimulationLuck, left: Int?) {
        self.table = table
        status = Self.statuses[luck.below(Self.statuses.count)]
        self.left = left
    }
}

extension SimulatedServer {
    /// Has one of the tables fail from now on, now and then.
    func beginOutage(_ state: inout State) {
        guard faults.strikes(.tableFails), state.outage == nil else { return }
        state.outage = TableOutage(luck.below(2) == 0 ? "items" : "notes", choosing: luck, left: 1 + luck.below(8))
    }

    /// Has that table fail until it is mended.
    func breakDown(_ table: String) {
        state.withLock { $0.outage = TableOutage(table, choosing: luck, left: nil) }
    }

    func mend() { state.withLock { $0.outage = nil } }

    /// The status that a request to a table is answered with while it fails.
    func outage(of table: String, isRow: Bool, _ state: inout State) -> Int? {
        guard let outage = state.outage, outage.table == table else { return nil }
        if let left = outage.left { state.outage?.left = left - 1 }
        if outage.left == 0 { state.outage = nil }
        // Of a row nothing else could be meant by it than that the row is not there.
        return outage.status == 404 && isRow ? 403 : outage.status
    }
}
