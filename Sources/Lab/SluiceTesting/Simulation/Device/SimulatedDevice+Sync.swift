internal import SluiceCore

extension SimulatedDevice {
    /// The named queries of the story: the name and the group that the rows are of, nil for all. What is asked for by a
    /// name changes with its wording.
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

    /// Pulls one of the named queries, and has the oracle look at what it brought.
    func pull(_ choice: Int) async {
        let queries = queries()
        let (name, table, group) = queries[choice % queries.count]
        await pull(query(table, group), named: name, group)
    }

    /// Finds rows that left the named queries, and those that the server has forgotten.
    func reconcile() async {
        for (name, table, group) in queries() {
            do {
                try await context?.reconcile(query(table, group), named: name)
            } catch let error as SluiceError where error.code == .invalidArgument {
                // A query that never brought a row has no cursor, and nothing that could have left it.
            } catch {
                explain(error, "reconcile of \(name)")
            }
        }
    }

    func query(_ table: String, _ group: Int?) -> Query {
        var query = Query(table)
        if let group {
            query.filter = .binary(.eq, .column("group"), .literal(.number(JSONNumber(Int64(group)))))
        }
        // The same rows in other words.
        if table == "items", wording % 2 == 1 {
            let words = QueryExpression.binary(.ne, .column("id"), .literal(.string("nobody")))
            query.filter = query.filter.map { .binary(.and, $0, words) } ?? words
        }
        return query
    }

    /// Pulls all rows of a table, without a name.
    func pullAll(_ choice: Int) async {
        await pull(Query(choice % 3 == 0 ? "notes" : "items"), named: nil, nil)
    }

    private func pull(_ query: Query, named name: String?, _ group: Int?) async {
        let before = parts.server.commit
        let purges = purges
        let failures = failedQuestions
        let held = held(by: name, of: query.table)
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
        // After its restart it says that nothing has changed.
        if service?.has(.emptiesOldLinks) ?? false, parts.server.hasRestarted { return }
        // It says nothing of rows that were deleted before the first page of a read: only of those that the query has held.
        let isTold = service == nil || parts.setting.tracksChanges
        // After its restart it is asked for the rows that there are, and what another query holds stays until its own pull.
        let kept = service != nil && parts.server.hasRestarted ? heldByOthers(than: name, of: query.table) : []
        // A question for rows without a time that fails twice is one that the server may not know.
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

    /// The records that the named query held here when it was last pulled; none before its first pull.
    private func held(by name: String?, of table: String) -> Set<RecordID> {
        held(of: table) { $0 == name }
    }

    /// The records that queries of other names hold here.
    private func heldByOthers(than name: String?, of table: String) -> Set<RecordID> {
        held(of: table) { $0 != name }
    }

    private func held(of table: String, by isWanted: @Sendable (String?) -> Bool) -> Set<RecordID> {
        parts.oracle.view(of: index) { view in
            let cursors = (view.tables[Cursor.schema.name] ?? [:]).values.filter {
                $0["table"]?.string == table && isWanted($0["name"]?.string) && $0["grade"]?.isNull == false
            }
            let keys = Set(cursors.compactMap { $0["key"]?.int })
            // Of a whole table none is noted.
            guard !keys.contains(0) else { return Set((view.tables[table] ?? [:]).keys) }
            return Set(
                (view.tables[Membership.schema.name] ?? [:]).keys.compactMap { member in
                    let parts = member.text.split(separator: "/", maxSplits: 1)
                    let isHeld = parts.count == 2 && Int64(parts[0]).map(keys.contains) ?? false
                    return isHeld ? RecordID(String(parts[1])) : nil
                })
        }
    }

    /// The records that some named query holds here.
    var members: Set<RecordID> {
        Set(
            parts.oracle.view(of: index) { view in
                (view.tables[Membership.schema.name] ?? [:]).keys.map {
                    RecordID(String($0.text.drop { $0 != "/" }.dropFirst()))
                }
            })
    }

    /// Has a named query let its rows go here, all or some of them.
    func purgeNamed(_ choice: Int) async {
        countPurge()
        let queries = queries()
        let query = queries[choice % queries.count]
        var rows = Query(query.table)
        if choice / 64 % 3 == 0 { rows.filter = .binary(.ge, .column("id"), .literal(.string("r2"))) }
        do {
            try await context?.purge(rows, named: query.name)
        } catch let error as SluiceError where [.operationsPending, .invalidArgument].contains(error.code) {
            // Something waits, or nothing was pulled by that name.
        } catch {
            explain(error, "purge of \(query.name)")
        }
        countPurge()
    }

    /// Empties a table here.
    func purge(_ choice: Int) async {
        countPurge()
        do {
            try await context?.purge(Query(choice % 3 == 0 ? "notes" : "items"), force: true)
        } catch {
            explain(error, "purge")
        }
        countPurge()
    }

    /// Removes everything of the user, so that another may begin.
    func switchUser() async {
        let process = process
        for table in ["items", "notes"] {
            countPurge()
            defer { countPurge() }
            do {
                try await context?.purge(Query(table), force: true)
            } catch {
                return explain(error, "purge for another user")
            }
        }
        guard !process.isDead, parts.setting.users > 1 else { return }
        setUser((process.user + 1) % parts.setting.users, isHandedOver: false)
        process.end("its user has gone")
    }

    /// Has another user begin to work with everything of the one before still there.
    func handOver() {
        guard parts.setting.users > 1 else { return }
        setUser((process.user + 1) % parts.setting.users, isHandedOver: true)
        process.end("another user takes over")
    }

    /// L4: the status says what the store holds.
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

    /// Tries all again that waits for a decision.
    ///
    /// - Parameter givesUp: whether to give up an undelete of what the server never had, which stays refused for ever.
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
            // It has gone meanwhile.
        } catch {
            explain(error, "retry")
        }
    }
}
