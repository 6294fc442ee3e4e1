internal import SluiceCore

extension SimulatedDevice {
    /// The named queries of the story: the name and the group that the rows are of, nil for all.
    func queries() -> [(name: String, table: String, group: Int?)] {
        let groups: [Int?] = parts.setting.queries == 1 ? [nil] : (0..<parts.setting.queries).map { $0 }
        return groups.map { (name: $0.map { "group \($0)" } ?? "all", table: "items", group: $0) }
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

    private func query(_ table: String, _ group: Int?) -> Query {
        var query = Query(table)
        if let group {
            query.filter = .binary(.eq, .column("group"), .literal(.number(JSONNumber(Int64(group)))))
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
        do {
            guard let context else { return }
            try await context.pull(query, named: name)
        } catch {
            return explain(error, "pull of \(query.table)")
        }
        guard purges == self.purges, parts.configuration.filters.isEmpty, parts.configuration.quirk == nil else {
            return
        }
        let rows = parts.server.rows(query.table).filter { row in
            row.commit <= before && (group == nil || row.fields["group"]?.int == group.map { Int64($0) })
        }
        parts.oracle.pulled(rows, of: query.table, named: name != nil, on: index)
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
        setUser((process.user + 1) % parts.setting.users)
        process.end("its user has gone")
    }

    /// Gives an operation up.
    func discard(_ choice: Int) async {
        do {
            guard let queue = context?.queue else { return }
            let operations = try await queue.operations()
            guard !operations.isEmpty else { return }
            try await queue.discard(operations[choice % operations.count].id)
        } catch let error as SluiceError where error.code == .invalidArgument {
            // It has gone meanwhile.
        } catch {
            explain(error, "discard")
        }
    }

    /// Takes all back that waits for a record.
    func undo(_ choice: Int) async {
        do {
            guard let queue = context?.queue else { return }
            let operations = try await queue.operations()
            guard !operations.isEmpty else { return }
            let operation = operations[choice % operations.count]
            try await queue.undo(operation.recordID, in: operation.table)
        } catch let error as SluiceError where error.code == .invalidArgument || error.code == .operationRefused {
            // It has gone meanwhile, or nobody knows what became of it.
        } catch {
            explain(error, "undo")
        }
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
                if givesUp, operation.kind == .undelete, operation.failure?.status == 404 {
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
