public import SluiceCore

extension Plugins {
    /// Reports a context's events to the plugins' `on_event` until the task is cancelled: its status, the progress of
    /// pushes and pulls, and commits to the local store. Failures of plugins are ignored.
    ///
    /// ```swift
    /// let telling = Task { await plugins.tell(of: context) }
    /// ```
    public func tell(of context: SyncContext) async {
        await withTaskGroup(of: Void.self) { group in
            let (phases, progress, changes) = (context.statusUpdates, context.progress, context.changes)
            group.addTask { for await phase in phases { await self.tell(PluginEvent(phase)) } }
            group.addTask { for await progress in progress { await self.tell(PluginEvent(progress)) } }
            group.addTask { for await batch in changes { await self.tell(PluginEvent(batch)) } }
        }
    }

    func tell(_ event: PluginEvent) async { await serving { await $0.tell(event) } }
}

extension PluginSet {
    fileprivate func tell(_ event: PluginEvent) async {
        for plugin in self.event {
            let hook = plugin.hook
            // An event without a table is for all hooks that do not match by table.
            let isFor =
                event.tables.isEmpty
                ? hook.matches(MatchSubject())
                : event.tables.contains { hook.matches(MatchSubject(table: $0)) }
            guard isFor else { continue }
            _ = try? await plugin.ask(
                [LuaArgument("event", event.json)], as: Bool.self, table: event.tables.first ?? "", recordID: nil
            ) { result in
                _ = try DecisionDocument(result, of: .onEvent)
                return HookAnswer(true, "none")
            }
        }
    }
}

/// An event as scripts see it.
struct PluginEvent: Sendable {
    let json: JSON
    var tables: [String] = []

    init(_ phase: SyncProgress.Phase) {
        switch phase {
        case .idle: json = ["kind": "status", "status": "idle"]
        case .offline: json = ["kind": "status", "status": "offline"]
        case .pulling: json = ["kind": "status", "status": "pulling"]
        case .pushing: json = ["kind": "status", "status": "pushing"]
        case .waiting(let time): json = ["kind": "status", "status": "waiting", "until": TimeFunctions.seconds(time)]
        case .needsAttention(let count):
            json = ["kind": "status", "status": "needs_attention", "held": JSON(count)]
        }
    }

    init(_ progress: SyncProgress) {
        var json: JSON = [
            "kind": "progress", "step": JSON(progress.step.rawValue), "rows": JSON(progress.rows),
            "bytes": JSON(progress.bytes),
        ]
        if let table = progress.table {
            json["table"] = JSON(table)
            tables = [table]
        }
        if let total = progress.total { json["total"] = JSON(total) }
        self.json = json
    }

    init(_ batch: ChangeBatch) {
        var names = Set(batch.changes.map(\.table))
        if case .tables(let others) = batch.reloads { names.formUnion(others) }
        tables = names.sorted()
        json = ["kind": "changes", "count": JSON(batch.changes.count), "tables": JSON(tables.map { JSON($0) })]
    }
}
