internal import Logging
internal import Sluice
internal import SluiceLua
internal import SluicePolicy

extension PolicyFollower {
    /// Writes the device's row of the fleet's table: after an event soon, else once in a while. It travels with the sync,
    /// and a row that still waits is one operation however often it changes.
    func tell() async {
        guard let table = settings.statusTable else { return }
        var told: (at: ContinuousClock.Instant, events: Int)?
        var failure: String?
        while !Task.isCancelled {
            let isNew = told.map { $0.events != eventCount || $0.at.duration(to: .now) >= settings.statusEvery } ?? true
            if isNew {
                let (events, now) = (eventCount, SyncEnvironment.system.now())
                do {
                    let report = row(at: now)
                    try await write(report, to: table)
                    budget.note(report, at: now)
                    (told, failure) = ((.now, events), nil)
                } catch {
                    // It is written once the store takes it again, and said once.
                    let reason = CommandText.reason(error)
                    if reason != failure {
                        logger.warning("the policy's status cannot be written to \(table): \(reason)")
                    }
                    failure = reason
                }
            }
            guard (try? await Task.sleep(for: .seconds(2))) != nil else { return }
        }
    }

    /// Returns the device's row: whole within the bytes of the day, else short.
    private func row(at now: Timestamp) -> JSON {
        let decisions = settings.statusDecisions > 0 ? newestDecisions : nil
        let isBounded = settings.statusDailyBytes != nil
        let whole = PolicyReport.row(
            device.state, device.name, at: now, decisions: decisions, isShort: isBounded ? false : nil)
        if budget.admits(whole, at: now) { return whole }
        return PolicyReport.row(device.state, device.name, at: now, decisions: decisions, isShort: true)
    }

    private var newestDecisions: [PluginDecision] {
        let logs = (try? session.settings.plugins?.decisionLogs()) ?? []
        return NewestDecisions.of(logs, count: settings.statusDecisions)
    }

    private func write(_ row: JSON, to table: String) async throws {
        let context = session.context
        // Only this device writes its row: after a reinstallation the one of before is in the way.
        for held in try await context.queue.operations(.init(table: table)) where held.isHeldConflict {
            try await context.queue.resolve(held.id, .client)
        }
        _ = try await context.table(table).upsert(row)
    }
}
