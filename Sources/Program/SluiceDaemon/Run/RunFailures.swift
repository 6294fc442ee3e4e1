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
        let stranded = try await context.strandedChanges().map(\.json)
        return try await context.heldOperations().map { ["held": $0.json] } + stranded
    }
}

extension SyncContext {
    /// Returns the operations put aside by earlier pushes: they need attention even after a good run.
    package func heldOperations() async throws -> [TableOperation] {
        try await queue.operations(TableOperation.Filter(states: [.parked, .dead]))
    }

    /// Returns an error about changes that no later push of this user sends either: they were made with a credential
    /// that is no longer used, and names nobody who would come back for them; or they wait behind a change that another
    /// user made of the same record.
    package func strandedChanges() async throws -> [SluiceError] {
        guard try await status().ofOthers > 0 else { return [] }
        let (user, operations) = (options.user, try await queue.operations())
        var errors: [SluiceError] = []
        let stranded = operations.count { SessionUser.isFingerprint($0.user) && !$0.user.hasSameBytes(as: user) }
        if stranded > 0 {
            errors.append(
                SluiceError(
                    .operationsPending,
                    "\(stranded.counted("change")) made with another credential wait for it: sync with it, or sluice "
                        + "queue take; a configured user is the same whatever the credential"))
        }
        var ofOthers: Set<[String]> = []
        let behind = operations.sorted { $0.sequence < $1.sequence }.count { operation in
            let record = [operation.table, operation.recordID.text]
            if operation.user.isEmpty || operation.user.hasSameBytes(as: user) { return ofOthers.contains(record) }
            ofOthers.insert(record)
            return false
        }
        if behind > 0 {
            errors.append(
                SluiceError(
                    .operationsPending,
                    "\(behind.counted("change")) wait behind another user's changes of the same records: sync as that "
                        + "user, or sluice queue take"))
        }
        return errors
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
