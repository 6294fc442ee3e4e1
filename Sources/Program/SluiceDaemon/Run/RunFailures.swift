internal import Sluice

extension Installation {
    /// The failures of a run, in the order of `sluice sync` without a daemon, so that a script reads the same from
    /// both.
    func failures(of run: SyncScheduler.Run) async throws -> [JSON] {
        var failures = run.errors.map(\.json) + run.failures.map { ["operation": $0.json] as JSON }
        for pull in run.pulls where pull.quarantined > 0 {
            failures.append([
                "code": "quarantined",
                "message": JSON("\(pull.quarantined.counted("row")) could not be stored; see sluice quarantine list"),
            ])
        }
        return failures.isEmpty ? try await held() : failures
    }

    /// Returns the operations parked by earlier pushes: they need attention even after a good run.
    private func held() async throws -> [JSON] {
        try await session.context.queue.operations().filter { $0.state == .parked || $0.state == .dead }
            .map { ["held": $0.json] }
    }
}

extension SluiceError {
    /// The error as the daemon's JSON reports it.
    fileprivate var json: JSON {
        [
            "code": JSON(code.description), "message": JSON(CommandText.reason(self)),
            "table": table.map { JSON($0) } ?? .null, "record": recordID.map { JSON($0) } ?? .null,
            "status": status.map { JSON($0) } ?? .null,
        ]
    }
}
