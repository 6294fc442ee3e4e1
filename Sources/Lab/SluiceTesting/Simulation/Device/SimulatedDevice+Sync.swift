internal import SluiceCore

extension SimulatedDevice {
    /// Returns the named queries of the story, each with the group of its rows; nil for all rows. The query behind a
    /// name changes with the device's wording.
    func queries() -> [(name: String, table: String, group: Int?)] {
        let (count, shift) = (parts.setting.queries, wording)
        let groups: [(name: String, group: Int?)] =
            count == 1 ? [("all", nil)] : (0..<count).map { ("group \($0)", ($0 + shift / 2) % count) }
        return groups.map { (name: $0.name, table: "items", group: $0.group) }
            + [(name: "all", table: "notes", group: nil)]
    }

    /// Pushes.
    @discardableResult
    func push() async -> PushResult? {
        do {
            let result = try await context?.push()
            if let error = result?.error { explain(error, "push") }
            return result
        } catch {
            explain(error, "push")
            return nil
        }
    }

    /// Pulls one of the named queries, and lets the checker compare the rows.
    func pull(_ choice: Int) async {
        let queries = queries()
        let (name, table, group) = queries[choice % queries.count]
        await pull(query(table, group), named: name, group)
    }

    /// Reconciles the named queries: finds rows that left them, and rows that the server has removed without a
    /// tombstone.
    func reconcile() async {
        for (name, table, group) in queries() {
            do {
                try await context?.reconcile(query(table, group), named: name)
            } catch let error as SluiceError where error.code == .invalidArgument {
                // A query that never returned a row has no cursor, so no row could have left it.
            } catch {
                explain(error, "reconcile of \(name)")
            }
        }
    }

    func query(_ table: String, _ group: Int?) -> TableQuery {
        var query = TableQuery(table)
        if let group {
            query.filter = .binary(.eq, .column("group"), .literal(.number(JSON.Number(Int64(group)))))
        }
        // The same rows by another filter.
        if table == "items", wording % 2 == 1 {
            let words = QueryExpression.binary(.ne, .column("id"), .literal(.string("nobody")))
            query.filter = query.filter.map { .binary(.and, $0, words) } ?? words
        }
        return query
    }

    /// Pulls all rows of a table, without a name.
    func pullAll(_ choice: Int) async {
        await pull(TableQuery(choice % 3 == 0 ? "notes" : "items"), named: nil, nil)
    }

    private func pull(_ query: TableQuery, named name: String?, _ group: Int?) async {
        let before = parts.server.commit
        let purges = purges
        let failures = failedQuestions
        let held = held(by: name, of: query.table)
        let isFirstRead = isUnfinished(name, of: query.table)
        do {
            guard let context else { return }
            try await context.pull(query, named: name)
        } catch {
            return explain(error, "pull of \(query.table)")
        }
        guard purges == self.purges, parts.configuration.filters.isEmpty, parts.configuration.quirk == nil else {
            return
        }
        let service = parts.server.service
        // After its restart the service reports no changes.
        if service?.has(.emptiesOldLinks) ?? false, parts.server.hasRestarted { return }
        // The service reports deletions made before the first page of a read only for rows that the query has held.
        let isTold = service == nil || parts.setting.tracksChanges
        // After its restart the device requests the existing rows, deltas of v2 give no reason, and a first read that was
        // interrupted is compared: a row of another query stays until that query is pulled.
        let isKept = service.map { parts.server.hasRestarted || !$0.givesReasons || isFirstRead } ?? false
        let kept = isKept ? heldByOthers(than: name, of: query.table) : []
        // After two failed requests for rows without a time, the engine may assume that the server does not know them.
        let mayMissUntimed = failedQuestions > failures + 1
        let rows = parts.server.rows(query.table).filter { row in
            if mayMissUntimed, !row.isTimed { return false }
            guard row.commit <= before, group == nil || row.fields["group"]?.int == group.map({ Int64($0) }) else {
                return false
            }
            return service == nil || !row.isDeleted || isTold && held.contains(row.id) && !kept.contains(row.id)
        }
        parts.oracle.pulled(rows, of: query.table, named: name != nil, on: index)
    }

    /// Returns the records that the named query held at its last pull; none before the first one.
    private func held(by name: String?, of table: String) -> Set<RecordID> {
        held(of: table) { $0["name"]?.string == name && $0["grade"]?.isNull == false }
    }

    /// Returns whether the first read of the named query was begun and has not ended.
    private func isUnfinished(_ name: String?, of table: String) -> Bool {
        parts.oracle.view(of: index) { view in
            (view.tables[Cursor.schema.name] ?? [:]).values.contains {
                $0["table"]?.string == table && $0["name"]?.string == name && $0["pulledAt"]?.isNull == true
            }
        }
    }

    /// Returns the records that queries of other names or users hold on this device.
    private func heldByOthers(than name: String?, of table: String) -> Set<RecordID> {
        let user = process.user
        return held(of: table) { cursor in
            cursor["name"]?.string != name || SimulatedAccount.user(named: cursor["user"]?.string ?? "") != user
        }
    }

    private func held(of table: String, by isWanted: @Sendable (JSON) -> Bool) -> Set<RecordID> {
        parts.oracle.view(of: index) { view in
            let cursors = (view.tables[Cursor.schema.name] ?? [:]).values.filter {
                $0["table"]?.string == table && isWanted($0)
            }
            let keys = Set(cursors.compactMap { $0["key"]?.int })
            // A query of a whole table has no memberships.
            guard !keys.contains(0) else { return Set((view.tables[table] ?? [:]).keys) }
            return Set(
                (view.tables[Membership.schema.name] ?? [:]).keys.compactMap { member in
                    let parts = member.text.split(separator: "/", maxSplits: 1)
                    let isHeld = parts.count == 2 && Int64(parts[0]).map(keys.contains) ?? false
                    return isHeld ? RecordID(String(parts[1])) : nil
                })
        }
    }

    /// The records that any named query holds on this device.
    var members: Set<RecordID> {
        Set(
            parts.oracle.view(of: index) { view in
                (view.tables[Membership.schema.name] ?? [:]).keys.map {
                    RecordID(String($0.text.drop { $0 != "/" }.dropFirst()))
                }
            })
    }

    /// Purges all or some rows of a named query from this device.
    func purgeNamed(_ choice: Int) async {
        countPurge()
        let queries = queries()
        let query = queries[choice % queries.count]
        var rows = TableQuery(query.table)
        if choice / 64 % 3 == 0 { rows.filter = .binary(.ge, .column("id"), .literal(.string("r2"))) }
        do {
            try await context?.purge(rows, named: query.name)
        } catch let error as SluiceError where [.operationsPending, .invalidArgument].contains(error.code) {
            // The table has pending operations, or nothing was pulled by that name.
        } catch {
            explain(error, "purge of \(query.name)")
        }
        countPurge()
    }

    /// Purges a table on this device.
    func purge(_ choice: Int) async {
        countPurge()
        do {
            try await context?.purge(TableQuery(choice % 3 == 0 ? "notes" : "items"), force: true)
        } catch {
            explain(error, "purge")
        }
        countPurge()
    }

    /// Purges all data of the user, so that another user may begin.
    func switchUser() async {
        let process = process
        for table in ["items", "notes"] {
            countPurge()
            defer { countPurge() }
            do {
                try await context?.purge(TableQuery(table), force: true)
            } catch {
                return explain(error, "purge for another user")
            }
        }
        guard !process.isDead, parts.setting.users > 1 else { return }
        setUser((process.user + 1) % parts.setting.users, isHandedOver: false)
        process.end("its user has gone")
    }

    /// Gives the device to another user, with all data of the present one still there.
    func handOver() {
        guard parts.setting.users > 1 else { return }
        setUser((process.user + 1) % parts.setting.users, isHandedOver: true)
        process.end("another user takes over")
    }

    /// Checks L4: the status agrees with the store.
    func checkStatus() async {
        let held = { @Sendable (view: DeviceView) in
            view.operations.values.flatMap(\.values).filter { $0.state == "parked" || $0.state == "dead" }.count
        }
        let before = parts.oracle.view(of: index, held)
        guard let status = try? await context?.status(), before == parts.oracle.view(of: index, held) else { return }
        if status.needsAttention != before {
            parts.oracle.violate(.status, "device \(index) says that \(status.needsAttention) wait, and \(before) do")
        }
    }

    /// Retries all operations that wait for a decision.
    ///
    /// - Parameter givesUp: whether to discard an undelete of a record that the server never had, which it always
    ///   refuses.
    func retry(givesUp: Bool = false) async {
        do {
            guard let queue = context?.queue else { return }
            for operation in try await queue.operations() where operation.state == .parked || operation.state == .dead {
                if givesUp, operation.kind == .undelete, [404, 405].contains(operation.failure?.status) {
                    try await queue.discard(operation.id)
                } else {
                    try await queue.retry(operation.id)
                }
            }
        } catch let error as SluiceError where error.code == .invalidArgument {
            // The operation has ended by now.
        } catch {
            explain(error, "retry")
        }
    }
}
