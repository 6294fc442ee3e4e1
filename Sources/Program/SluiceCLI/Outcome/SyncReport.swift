internal import Sluice

/// Runs push and pull with a progress bar, and formats their results.
enum SyncReport {
    static func pull(
        _ query: Query, named name: String?, allowsMassRemoval: Bool = false, in context: SyncContext
    ) async throws -> PullResult {
        let bar = ProgressBar("pull \(query.table)")
        defer { bar.finish() }
        return try await context.pull(query, named: name, allowsMassRemoval: allowsMassRemoval) { bar.update($0.rows) }
    }

    static func push(in context: SyncContext) async throws -> PushResult {
        guard StandardStream.error.isTerminal else { return try await context.push() }
        let operations = Query("sluice_operations")
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
        var lines = ["pull \(table): \(words(of: result))"] + result.reasons.map(\.description)
        if result.grade == .full, !result.reasons.contains(where: \.explainsFull) {
            lines.append("the server's changes cannot be followed, so all rows are read by each pull")
        }
        return lines.joined(separator: "\n  ")
    }

    /// Returns the result of a pull; unchanged rows are not mentioned.
    static func words(of result: PullResult) -> String {
        var parts: [String] = []
        if result.brought > 0 { parts.append("\(Plain.count(result.brought, "row")) stored") }
        if result.removed > 0 { parts.append("\(Plain.count(result.removed, "row")) removed") }
        if result.pending > 0 { parts.append("\(Plain.count(result.pending)) left alone, with changes that wait") }
        if result.dropped > 0 { parts.append("\(Plain.count(result.dropped)) dropped by a hook") }
        return parts.isEmpty ? "nothing new" : parts.joined(separator: ", ")
    }

    /// Adds the rows that a pull could not store.
    static func add(_ pull: PullResult, _ table: String, to outcome: inout Outcome) {
        guard pull.quarantined > 0 else { return }
        outcome.add(
            CommandFailure(
                .brokenProtocol, "quarantined",
                "\(Plain.count(pull.quarantined, "row")) could not be stored; see sluice quarantine list", table: table)
        )
    }

    static func text(_ result: ReconcileResult, _ table: String) -> String {
        var parts = ["\(Plain.count(result.compared, "row")) compared"]
        if result.stored > 0 { parts.append("\(Plain.count(result.stored)) brought") }
        if result.removed > 0 { parts.append("\(Plain.count(result.removed)) removed") }
        if result.pending > 0 { parts.append("\(Plain.count(result.pending)) left alone, with changes that wait") }
        return "reconcile \(table): \(parts.joined(separator: ", "))"
    }

    static func text(_ result: PushResult) -> String {
        var parts = ["\(Plain.count(result.applied, "change")) sent"]
        if result.conflicts > 0 { parts.append(Plain.count(result.conflicts, "conflict")) }
        if result.remaining > 0 { parts.append("\(Plain.count(result.remaining)) left in the queue") }
        if result.postponed > 0 { parts.append("\(Plain.count(result.postponed)) of them postponed by a hook") }
        if result.ofOthers > 0 { parts.append("\(Plain.count(result.ofOthers)) of them for another user to send") }
        return "push: \(parts.joined(separator: ", "))"
    }

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

    /// Adds the operations that an earlier push has put aside: they are not done, whatever this push did.
    static func addHeld(to outcome: inout Outcome, in context: SyncContext) async throws {
        guard outcome.status == .done else { return }
        for operation in try await context.queue.operations() where [.parked, .dead].contains(operation.state) {
            outcome.add(CommandFailure(operation, status: .attention))
        }
    }
}
