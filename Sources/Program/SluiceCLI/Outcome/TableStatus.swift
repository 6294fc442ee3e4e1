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
    /// The number of changes behind a held one, or one of another user, on their records.
    let behind: Int
    /// Whether the table stays on this machine.
    let staysHere: Bool
    /// The progress of each pulled query.
    let cursors: [SyncStatus.CursorStatus]
    /// The names of the queries by which `sluice sync` pulls the table.
    let queries: [String]

    /// Returns the tables of the store, the configured ones, and those that were pulled or changed, by name.
    static func all(in session: ClientSession, _ cursors: [SyncStatus.CursorStatus]) async throws -> [TableStatus] {
        let configured = session.settings.tables.map(\.name) + cursors.map(\.table)
        let (context, pulls) = (session.context, session.settings.pulls)
        return try await context.store.read { reader in
            // A context gives no access to the engine's own tables.
            let names = Set(configured + (try reader.tables().map(\.name))).filter { (try? context.table($0)) != nil }
            func operations(_ table: String, _ states: [TableOperation.State]) -> TableQuery {
                let state = column("state").isIn(states.map { TableQuery.Term($0.rawValue) })
                return TableQuery("sluice_operations").where(column("table") == TableQuery.Term(table) && state)
            }
            return try names.sorted().map { name in
                let waiting = operations(name, [.pending, .inFlight])
                let others = column("user") != nil && column("user") != TableQuery.Term(context.options.user)
                let ofOthers = try reader.count(matching: waiting.where(others))
                let held = try reader.count(matching: operations(name, [.parked, .dead]))
                let behind = held + ofOthers > 0 ? try Self.behind(name, of: context.options.user, in: reader) : 0
                return TableStatus(
                    name: name, rows: try reader.count(matching: TableQuery(name)),
                    waiting: try reader.count(matching: waiting) - ofOthers - behind, held: held, ofOthers: ofOthers,
                    behind: behind,
                    staysHere: context.localOnly.tables.contains(name), cursors: cursors.filter { $0.table == name },
                    queries: pulls.filter { $0.query.table == name }.compactMap(\.name))
            }
        }
    }

    /// Returns the number of the user's changes that follow one which this user's next push does not send.
    private static func behind(_ table: String, of user: String?, in reader: any StoreReader) throws -> Int {
        var query = TableQuery("sluice_operations").where(column("table") == TableQuery.Term(table))
        query.order = [.init("sequence")]
        var (stopped, behind): (Set<String>, Int) = ([], 0)
        for operation in try reader.records(matching: query) {
            guard let record = operation["record"]?.string else { continue }
            let maker = operation["user"]?.string
            let isHeld = ["parked", "dead"].contains(operation["state"]?.string)
            if isHeld || (maker != nil && maker != user) {
                stopped.insert(record)
            } else if stopped.contains(record) {
                behind += 1
            }
        }
        return behind
    }

    var json: JSON {
        [
            "table": JSON(name), "rows": JSON(rows), "waiting": JSON(waiting), "held": JSON(held),
            "behind": JSON(behind),
            "lastPull": Self.json(lastPull),
            "grade": (synced ?? cursors.first).map { JSON($0.grade.rawValue) } ?? .null,
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
        let names = queries.isEmpty ? [ClientSettings.queryName] : queries
        return cursors.first { names.contains($0.name) }
    }

    /// Whether the table has no queued change.
    var isSettled: Bool { waiting + held + ofOthers + behind == 0 }

    var text: String {
        var parts = [Plain.count(rows, "row")]
        if waiting > 0 { parts.append("\(Plain.count(waiting, "change")) waiting") }
        if held > 0 { parts.append("\(Plain.count(held, "change")) held for a decision") }
        if ofOthers > 0 { parts.append("\(Plain.count(ofOthers, "change")) of another user") }
        if behind > 0 { parts.append("\(Plain.count(behind, "change")) behind those") }
        if let lastPull { parts.append("last pulled \(lastPull)") }
        let rest = staysHere ? "it stays on this machine" : "the next sync \(next)"
        return "\(name): \(parts.joined(separator: ", ")); \(rest)"
    }

    /// The next work of `sluice sync` on the table.
    private var next: String {
        let push = waiting > 0 ? "sends \(Plain.count(waiting, "change")) and " : ""
        guard let cursor = synced else {
            return "\(push)asks for all rows: the table was never synchronised"
        }
        switch cursor.grade {
        case .full: return "\(push)asks for all rows: the server's changes cannot be followed"
        case .changeTokens: return "\(push)asks for what changed since the last one"
        default: return "\(push)asks for what changed since \(Plain.line(cursor.updatedAt))"
        }
    }
}
