package import Sluice

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
        guard failures.isEmpty else { return failures }
        let context = session.context
        let stranded = try await context.strandedChanges().map { [$0.json] } ?? []
        return try await context.heldOperations().map { ["held": $0.json] } + stranded
    }
}

extension SyncContext {
    /// Returns the operations put aside by earlier pushes: they need attention even after a good run.
    package func heldOperations() async throws -> [TableOperation] {
        try await queue.operations(TableOperation.Filter(states: [.parked, .dead]))
    }

    /// Returns an error about changes that were made with a credential that is no longer used; nil if there are none. A
    /// credential names nobody who would come back for them.
    package func strandedChanges() async throws -> SluiceError? {
        guard try await status().ofOthers > 0 else { return nil }
        let user = options.user
        let stranded = try await queue.operations().count {
            SessionUser.isFingerprint($0.user) && !$0.user.hasSameBytes(as: user)
        }
        guard stranded > 0 else { return nil }
        return SluiceError(
            .operationsPending,
            "\(stranded.counted("change")) made with another credential wait for it: sync with it, or sluice queue take; "
                + "a configured user is the same whatever the credential")
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
