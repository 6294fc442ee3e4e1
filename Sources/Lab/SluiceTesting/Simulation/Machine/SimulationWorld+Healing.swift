internal import SluiceCore
internal import Synchronization

extension SimulationWorld {
    /// Turns all faults off, lets every device synchronise until nothing is left to do, and then compares all copies.
    func heal() throws {
        // Three times out of four with large pages: the story itself has already tried small ones.
        let isQuick = story.seed % 4 > 0
        if isQuick { parts.server.setPage(50) }
        for device in devices {
            if isQuick { device.setPage(50) }
            let decides = parts.setting.policy == .hold
            if decides { device.setPolicy(parts.configuration.conflictPolicy ?? .clientWins) }
            // Otherwise the process keeps its memory, which must do no harm either.
            if decides || parts.setting.restartsToHeal || device.context == nil {
                try complete { try await device.start() }
            }
        }
        // A device with change tokens is told of rows that left a query, and reconciles by itself where it may not have
        // been.
        let isTold = parts.setting.tracksChanges
        let reconciles =
            parts.setting.deletesForGood || parts.setting.restoresBackups
            || (parts.setting.queries > 1 && !isTold)
            // An OData service does not report rows deleted before the first page of a read.
            || parts.server.service != nil
        try pushBesideFailingTable()
        let waiting = devices.map(\.waiting)
        let unanswered = devices.map(\.unansweredSends)
        var pushed = devices.map { _ in 0 }
        // A server that fails on large pages makes each of several reads find the right size first.
        let rounds = parts.setting.traits.contains(.failsLargePages) ? 8 : 4
        for round in 0..<rounds {
            parts.clock.advance(milliseconds: parts.setting.commitLag * 2000 + 10_000)
            // All push before any pulls, so that one pull brings what all have pushed.
            let open = devices.filter { round == 0 || !$0.isSettled }
            for device in open {
                let before = parts.count.requests
                try forEachUser(of: device) {
                    await $0.retry(givesUp: round > 0)
                    await $0.checkWaiting(after: $0.push())
                }
                pushed[device.index] += parts.count.requests - before
            }
            for device in open {
                try forEachUser(of: device) { device in
                    for query in device.queries().indices { await device.pull(query) }
                    // A device that pulls have settled does not reconcile: stories do that without faults, too.
                    if reconciles, !device.isSettled { await device.reconcile() }
                }
            }
            // More rounds are needed only while a device is not settled.
            if devices.allSatisfy({ $0.isSettled }) { break }
        }
        parts.oracle.finish()
        checkEffort(pushed, waiting, unanswered)
        for device in devices { try check(device) }
        if let violation = parts.oracle.violation { throw violation }
    }

    /// Runs `body` for each user of the device, where one user may find data of another.
    private func forEachUser(
        of device: SimulatedDevice, _ body: @escaping @Sendable (SimulatedDevice) async -> Void
    ) throws {
        try complete { await body(device) }
        for _ in 1..<(parts.setting.handsOver ? parts.setting.users : 1) {
            device.handOver()
            try complete { try await device.start() }
            try complete { await body(device) }
        }
    }

    /// Checks L5: at best an operation takes one request, and one more finds the outcome of a send whose answer was
    /// lost. An operation that was edited after such a send may have several of them.
    private func checkEffort(_ requests: [Int], _ operations: [Int], _ unanswered: [Int]) {
        guard parts.configuration.conflictHandlers.isEmpty, parts.configuration.quirk == nil else { return }
        // The description and the token of an OData service are requested too, and rows are read that it does not return.
        // Before and after an update by PUT, the row is read.
        let perService = parts.setting.service.contains(.putsUpdates) ? 7 : 5
        let (times, ofService) = parts.server.service == nil ? (3, 0) : (perService, 4)
        // An expired token makes all requests refused that are under way together.
        let besides = ofService + (parts.setting.usesTokens ? parts.setting.concurrency - 1 : 0)
        for device in devices.indices {
            let count = operations[device]
            // A wire that replaces records reads one of each table by its id and from the list, and each of those that
            // begin together, as the parts of a batch do. A decision for the device that restores a record by PUT makes two
            // operations of one, and each reads the record in both ways.
            let atOnce = max(parts.setting.concurrency, parts.setting.takesBatches ? parts.setting.batchSize : 1)
            let together = max(1, min(atOnce, count))
            let byID =
                parts.dialect.patchesUpdates ? 0 : 4 * together + (parts.dialect.undelete == .put ? 4 : 1) * count
            guard requests[device] > times * (count + 1) + max(0, unanswered[device] - 1) + besides + byID else {
                continue
            }
            parts.oracle.violate(
                .effort, "device \(device) took \(requests[device]) requests for \(operations[device]) operations")
        }
    }

    private func check(_ device: SimulatedDevice) throws {
        let requests = parts.count.requests
        try complete {
            let result = await device.push()
            if let result, result.end != .completed {
                device.parts.oracle.violate(
                    .queueDrains, "device \(device.index): a push with all well ended with \(result.end)")
            }
            await device.checkQueue()
        }
        if parts.count.requests > requests, parts.configuration.conflictHandlers.isEmpty {
            parts.oracle.violate(.effort, "device \(device.index) sends requests with nothing to do")
        }
        device.checkRows()
        device.checkRules()
    }
}

extension SimulatedDevice {
    /// Checks L1 and L4: the queue is empty or has a reason not to be, the status agrees, and the store holds the rows
    /// written to it.
    func checkQueue() async {
        let oracle = parts.oracle
        do {
            guard let context else { return }
            let operations = try await context.queue.operations()
            for operation in operations where operation.state == .inFlight {
                oracle.violate(.queueDrains, "device \(index) still has \(operation.kind) of \(operation.recordID)")
            }
            let isOurs = parts.configuration.conflictHandlers.isEmpty && parts.configuration.quirk == nil
            if isOurs, let operation = operations.first {
                let reason = operation.failure?.message ?? ""
                oracle.violate(
                    .queueDrains,
                    "device \(index) still has \(operation.kind) of \(operation.recordID), \(operation.state): \(reason)"
                )
            }
            let status = try await context.status()
            if status.pending + status.inFlight + status.parked + status.dead != operations.count {
                oracle.violate(.status, "device \(index) says \(status), and has \(operations.count) operations")
            }
            let phase = status.needsAttention > 0 ? SyncProgress.Phase.needsAttention(status.needsAttention) : .idle
            if status.phase != phase {
                oracle.violate(.status, "device \(index) says that it is \(status.phase), and is \(phase)")
            }
            let states = try await read { try $0.count(matching: TableQuery(RecordState.schema.name)) }
            if states > operations.count {
                oracle.violate(.bounded, "device \(index) remembers \(states) records that are settled")
            }
            if let problem = try await read({ try StoreConsistency.problems(in: $0) }).first {
                oracle.violate(.atomicity, "the store of device \(index): \(problem)")
            }
            for table in ["items", "notes"] {
                let rows = try await read { try $0.records(matching: TableQuery(table)).map(SimulatedMemo.without) }
                    .map(parts.setting.ids.known)
                let known = oracle.view(of: index) { ($0.tables[table] ?? [:]) }
                if rows.count != known.count || rows.contains(where: { known[$0["id"]?.textID ?? ""] != $0 }) {
                    oracle.violate(.atomicity, "the store of device \(index) holds other rows than were committed")
                }
            }
        } catch {
            explain(error, "a look at the queue")
        }
    }

    /// Checks L4: after a push, the number of waiting operations is the number that may be sent. An operation is barred
    /// by its state, a failure, a time or its user. It is also barred by an earlier operation of its record or another
    /// of its group; a dependency may bar it, too.
    func checkWaiting(after result: PushResult?) async {
        guard let result, result.end == .completed, parts.configuration.quirk == nil else { return }
        let user = process.user
        let (all, free, atMost) = parts.oracle.view(of: index) { view in
            let operations = view.operations.values.flatMap(\.values)
            func left(_ isBarred: (OperationView) -> Bool) -> Int {
                var barred = operations.filter(isBarred)
                var left = operations.filter { !isBarred($0) }
                while let place = left.firstIndex(where: { operation in barred.contains { operation.waits(for: $0) } })
                {
                    barred.append(left.remove(at: place))
                }
                return left.count
            }
            // An operation in flight when its process ended, and not tried since, goes out with the next push too.
            return (
                operations.count, left { $0.isBarred(to: user) || $0.state == "inFlight" },
                left { $0.isBarred(to: user) }
            )
        }
        guard free == all ? result.waiting != free : result.waiting > atMost else { return }
        parts.oracle.violate(
            .status, "a push of device \(index) says that \(result.waiting) wait, and \(atMost) of \(all) may be sent")
    }

    /// The number of operations in the queue.
    var waiting: Int { parts.oracle.view(of: index) { $0.operations.values.map(\.count).reduce(0, +) } }

    /// The number of the queue's sends without a known outcome.
    var unansweredSends: Int {
        parts.oracle.view(of: index) { view in
            view.operations.values.flatMap(\.values).map { $0.record["sent"]?.elements?.count ?? 0 }.reduce(0, +)
        }
    }

    /// Whether the queue is empty, and the rows equal those of the server.
    var isSettled: Bool {
        let waits = parts.oracle.view(of: index) { !$0.operations.isEmpty }
        return !waits && rowsMissing() == nil
    }

    /// Checks L2 and L3: the device holds the server's rows.
    func checkRows() {
        guard parts.configuration.filters.isEmpty, parts.configuration.quirk == nil else { return }
        if let missing = rowsMissing() { parts.oracle.violate(.convergence, "device \(index), \(missing)") }
    }

    /// Returns a difference between the device's rows and the server's; nil if there is none.
    private func rowsMissing() -> String? {
        for (name, table, group) in queries() {
            let rows = parts.server.rows(table).filter {
                !$0.isDeleted && !$0.isOdd && (group == nil || $0.fields["group"]?.int == group.map { Int64($0) })
            }
            let (local, changed) = parts.oracle.view(of: index) { view in
                let changed = Set(view.operations.keys.filter { $0.table == table }.map(\.id))
                return ((view.tables[table] ?? [:]).filter { !changed.contains($0.key) }, changed)
            }
            // A record with a queued operation, such as one after a handler has thrown, may differ.
            for row in rows where !changed.contains(row.id) && !parts.setting.shows(row.wire, as: local[row.id]) {
                let here = local[row.id].map { "\($0)" } ?? "nothing"
                return "\(name): \(table)/\(row.id) is \(here), the server's \(row.wire)"
            }
            // A row that no query holds (made here, or pulled without a name) stays until it is purged.
            let ids = Set(rows.map(\.id))
            let held = members
            let isWhole = query(table, group).filter == nil
            let mine = local.filter { id, row in
                isWhole || held.contains(id) && (group == nil || row["group"]?.int == group.map { Int64($0) })
            }
            if let id = mine.keys.sorted().first(where: { !ids.contains($0) }) {
                return "\(name): has \(table)/\(id), which the server has not"
            }
        }
        return nil
    }
}

extension OperationView {
    /// Whether a property of the operation bars it from being sent in that user's name.
    func isBarred(to user: Int) -> Bool {
        let maker = record["user"]?.string.flatMap(SimulatedAccount.user(named:)) ?? user
        return state == "parked" || state == "dead" || record["failure"]?.isNull == false
            || record["notBefore"]?.isNull == false
            || maker != user
    }

    /// Whether the operation is not sent before the other.
    fileprivate func waits(for other: OperationView) -> Bool {
        group != nil && group == other.group || key == other.key && sequence > other.sequence
    }
}
