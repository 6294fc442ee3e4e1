internal import Sluice
internal import SluiceDaemon

/// Runs push and pull with a progress bar, and formats their results.
enum SyncReport {
    static func pull(
        _ query: TableQuery, named name: String?, allowsMassRemoval: Bool = false, in context: SyncContext
    ) async throws -> PullResult {
        guard StandardStream.error.isTerminal else {
            return try await context.pull(query, named: name, allowsMassRemoval: allowsMassRemoval)
        }
        let bar = ProgressBar("pull \(query.table)")
        defer { bar.finish() }
        return try await context.pull(query, named: name, allowsMassRemoval: allowsMassRemoval) {
            bar.update($0.rows, of: $0.total)
        }
    }

    static func push(in context: SyncContext) async throws -> PushResult {
        guard StandardStream.error.isTerminal else { return try await context.push() }
        let operations = TableQuery("sluice_operations")
        let total = try await context.store.read { try $0.count(matching: operations) }
        let bar = ProgressBar("push", total: total, noun: "change")
        defer { bar.finish() }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while true {
                    try await Task.sleep(for: .milliseconds(200))
                    let left = try await context.store.read { try $0.count(matching: operations) }
                    bar.update(max(0, total - left))
                }
            }
            let result = try await context.push()
            group.cancelAll()
            return result
        }
    }

    /// Returns the result of a pull, with the reasons for additional work.
    static func text(_ result: PullResult, _ table: String) -> String {
        (["pull \(table): \(result.counts)"] + result.remarks).joined(separator: "\n  ")
    }

    /// Adds the number of a table's rows that could not be stored.
    static func add(quarantined: Int, _ table: String, to outcome: inout Outcome) {
        guard quarantined > 0 else { return }
        outcome.add(
            CommandFailure(
                .brokenProtocol, "quarantined",
                "\(Plain.count(quarantined, "row")) could not be stored; see sluice quarantine list", table: table)
        )
    }

    static func text(_ result: ReconcileResult, _ table: String) -> String { "reconcile \(table): \(result.counts)" }

    static func text(_ result: PushResult) -> String { "push: \(result.counts)" }

    /// Adds the failures of a push.
    static func add(_ push: PushResult, to outcome: inout Outcome, in context: SyncContext) async throws {
        let status = ExitStatus(push)
        if let error = push.error {
            var failure = CommandFailure(error)
            failure.status = status
            outcome.add(failure)
        }
        for operation in push.otherFailures {
            outcome.add(CommandFailure(operation, status: status))
        }
    }

    /// Adds the operations that an earlier push has put aside, and those made with a credential that is no longer used:
    /// they are not done, whatever this push did.
    static func addHeld(to outcome: inout Outcome, in context: SyncContext) async throws {
        guard outcome.status == .done else { return }
        for operation in try await context.heldOperations() {
            outcome.add(CommandFailure(operation, status: .attention))
        }
        for error in try await context.strandedChanges() { outcome.add(CommandFailure(error)) }
    }
}
