internal import Sluice
internal import SluiceDaemon

/// The state of one table: its records, its queued changes, and the work of the next sync.
struct TableStatus {
    let name: String
    let rows: Int
    /// The number of changes that the next push sends.
    let waiting: Int
    /// The number of changes that wait for a decision.
    let held: Int
    /// The number of changes that wait for another user's push.
    let ofOthers: Int
    /// Whether the table stays on this machine.
    let staysHere: Bool
    /// The progress of each pulled query.
    let cursors: [SyncStatus.CursorStatus]

    /// Returns the tables of the store, the configured ones, and those that were pulled or changed, by name.
    static func all(in session: ClientSession, _ cursors: [SyncStatus.CursorStatus]) async throws -> [TableStatus] {
        let configured = session.settings.tables.map(\.name) + cursors.map(\.table)
        let context = session.context
        return try await context.store.read { reader in
            // A context gives no access to the engine's own tables.
            let names = Set(configured + (try reader.tables().map(\.name))).filter { (try? context.table($0)) != nil }
            func operations(_ table: String, _ states: [TableOperation.State]) -> Query {
                let state = column("state").isIn(states.map { QueryTerm($0.rawValue) })
                return Query("sluice_operations").where(column("table") == QueryTerm(table) && state)
            }
            return try names.sorted().map { name in
                let waiting = operations(name, [.pending, .inFlight])
                let others = column("user") != nil && column("user") != QueryTerm(context.options.user)
                let ofOthers = try reader.count(matching: waiting.where(others))
                return TableStatus(
                    name: name, rows: try reader.count(matching: Query(name)),
                    waiting: try reader.count(matching: waiting) - ofOthers,
                    held: try reader.count(matching: operations(name, [.parked, .dead])), ofOthers: ofOthers,
                    staysHere: context.localOnly.tables.contains(name), cursors: cursors.filter { $0.table == name })
            }
        }
    }

    var json: JSON {
        [
            "table": JSON(name), "rows": JSON(rows), "waiting": JSON(waiting), "held": JSON(held),
            "lastPull": Self.json(lastPull), "grade": synced.map { JSON($0.grade.rawValue) } ?? .null,
            "queries": JSON(
                cursors.map { cursor -> JSON in
                    [
                        "query": JSON(cursor.name), "updatedAt": JSON(cursor.updatedAt),
                        "grade": JSON(cursor.grade.rawValue), "lastPull": Self.json(cursor.pulledAt),
                    ]
                }),
            "next": JSON(next),
        ]
    }

    private static func json(_ time: Timestamp?) -> JSON { time.map { JSON($0.description) } ?? .null }

    /// The time of the table's last pull, by any of its queries.
    private var lastPull: Timestamp? { cursors.compactMap(\.pulledAt).max() }

    /// The progress of the table in `sluice sync`.
    private var synced: SyncStatus.CursorStatus? {
        cursors.first { $0.name == ClientSettings.queryName } ?? cursors.first
    }

    /// Whether the table has no queued change.
    var isSettled: Bool { waiting + held + ofOthers == 0 }

    var text: String {
        var parts = [Plain.count(rows, "row")]
        if waiting > 0 { parts.append("\(Plain.count(waiting, "change")) waiting") }
        if held > 0 { parts.append("\(Plain.count(held, "change")) held for a decision") }
        if ofOthers > 0 { parts.append("\(Plain.count(ofOthers, "change")) of another user") }
        if let lastPull { parts.append("last pulled \(lastPull)") }
        let rest = staysHere ? "it stays on this machine" : "the next sync \(next)"
        return "\(name): \(parts.joined(separator: ", ")); \(rest)"
    }

    /// The next work of `sluice sync` on the table.
    private var next: String {
        let push = waiting > 0 ? "sends \(Plain.count(waiting, "change")) and " : ""
        guard let cursor = cursors.first(where: { $0.name == ClientSettings.queryName }) else {
            return "\(push)asks for all rows: the table was never synchronised"
        }
        switch cursor.grade {
        case .full: return "\(push)asks for all rows: the server's changes cannot be followed"
        case .changeTokens: return "\(push)asks for what changed since the last one"
        default: return "\(push)asks for what changed since \(Plain.line(cursor.updatedAt))"
        }
    }
}
