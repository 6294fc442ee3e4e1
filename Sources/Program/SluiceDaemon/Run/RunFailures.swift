internal import Sluice

extension Installation {
    /// The things that a run did not get done, in the order in which `sluice sync` without a daemon tells it: a
    /// script learns the same from both.
    func failures(of run: ScheduledRun) async throws -> [JSON] {
        var failures: [JSON] = []
        if let push = run.push { failures += operations(of: push) }
        if let error = run.error { failures.insert(error.json, at: 0) }
        for pull in run.pulls where pull.quarantined > 0 {
            failures.append([
                "code": "quarantined",
                "message": JSON("\(pull.quarantined.counted("row")) could not be stored; see sluice quarantine list"),
            ])
        }
        return failures.isEmpty ? try await held() : failures
    }

    private func operations(of push: PushResult) -> [JSON] {
        // What ended the push is told with its record.
        push.failures.filter { push.error == nil || $0.recordID != push.error?.recordID }.map { ["operation": $0.json] }
    }

    /// A change that an earlier push has put aside: it is not done, whatever this run did.
    private func held() async throws -> [JSON] {
        try await session.context.queue.operations().filter { $0.state == .parked || $0.state == .dead }
            .map { ["held": $0.json] }
    }
}

extension SluiceError {
    /// The error as the daemon tells it.
    fileprivate var json: JSON {
        [
            "code": JSON(code.description), "message": JSON(CommandText.reason(self)),
            "table": table.map { JSON($0) } ?? .null, "record": recordID.map { JSON($0) } ?? .null,
            "status": status.map { JSON($0) } ?? .null,
        ]
    }
}
