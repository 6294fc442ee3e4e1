internal import Foundation
package import Sluice
package import SluiceLua
internal import SluicePluginTools

/// One record's story: its copies, its pending operations, and its events, oldest first.
package enum RecordStory {
    /// The story as JSON: `table`, `id`, `local`, `base`, `server`, `operations` and `events`, each event with `at`,
    /// `what` and `text`. A missing copy is null; `base` and `server` exist only while operations are pending.
    ///
    /// - Parameter decisions: the decisions of plugins; those about other records are left out.
    package static func json(
        of id: RecordID, in table: String, _ context: SyncContext, decisions: [PluginDecision]
    ) async throws -> JSON {
        let local = try await context.table(table).lookup(id: id)
        let operations = try await context.queue.operations(TableOperation.Filter(table: table, recordID: id))
        var (base, server): (JSON?, JSON?) = (nil, nil)
        if let last = operations.last {
            let copies = try await context.queue.copies(of: last)
            base = copies.base
            server = operations.compactMap { $0.failure?.serverRecord }.last ?? copies.mirror
        }
        var events: [(at: Timestamp, json: JSON)] = operations.flatMap { self.events($0) }
        for entry in try await context.queue.audit()
        where entry.operation.table == table && entry.operation.recordID == id {
            events.append(event(entry.at, "audit", "\(entry.operation.kind.rawValue): \(entry.what)"))
        }
        for decision in decisions where decision.table == table && decision.recordID == id {
            events.append(self.event(decision))
        }
        // Events of the same time keep their order.
        let ordered = events.enumerated().sorted {
            ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
        }
        return [
            "table": JSON(table), "id": JSON(id), "local": local ?? .null, "base": base ?? .null,
            "server": server ?? .null, "operations": JSON(operations.map(\.json)),
            "events": JSON(ordered.map(\.element.json)),
        ]
    }

    private static func events(_ operation: TableOperation) -> [(at: Timestamp, json: JSON)] {
        var text = "\(operation.kind.rawValue) queued: revision \(operation.revision), \(operation.state.rawValue)"
        if operation.attempts > 0 { text += ", sent \(operation.attempts.counted("time"))" }
        if let failure = operation.failure { text += "; \(failure.message)" }
        if let time = operation.notBefore { text += "; not before \(time)" }
        return [event(operation.createdAt, "change", text, ["operation": JSON(operation.id)])]
    }

    private static func event(_ decision: PluginDecision) -> (at: Timestamp, json: JSON) {
        var text = "\(decision.plugin) \(decision.version) decided \(decision.decision) in \(decision.hook.rawValue)"
        if let reason = decision.reason { text += ": \(reason)" }
        if let failure = decision.failure { text += "; it failed: \(failure.message)" }
        if decision.isShadow { text += " (only watching: nothing came of it)" }
        return event(
            decision.at, "decision", text,
            ["plugin": JSON(decision.plugin), "sequence": JSON(decision.sequence)])
    }

    private static func event(
        _ at: Timestamp, _ what: String, _ text: String, _ more: [PropertyName: JSON] = [:]
    ) -> (at: Timestamp, json: JSON) {
        var json: JSON = ["at": JSON(at.description), "what": JSON(what), "text": JSON(text)]
        for (name, value) in more { json[name] = value }
        return (at, json)
    }

    /// Returns the plugins' decisions from the policy's decision log, oldest first. A missing file counts as empty.
    package static func writtenDecisions(_ settings: ClientSettings) throws -> [PluginDecision] {
        let files = try (settings.plugins?.decisionLogs() ?? []).flatMap { log in
            (0...max(0, log.kept - 1)).reversed().map { $0 == 0 ? log.path : "\(log.path).\($0)" }
        }
        let decisions = try files.filter { FileManager.default.fileExists(atPath: $0) }.flatMap {
            try DecisionFile(path: $0).decisions
        }
        return decisions.sorted { $0.at < $1.at }
    }
}
