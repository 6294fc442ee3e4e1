package import SluiceCore
internal import Synchronization

/// One request to a server's table, with the plugins around it.
///
/// Each script runs to its `next` before the request is carried out, and waits there. If the request is refused or
/// given up, the scripts learn it when this object is released.
package final class TableCall: Sendable {
    private struct State {
        /// The waiting scripts, the outermost first.
        var waiting: [SuspendedLink] = []
        /// Whether plugins were called before the request.
        var isAsked = false
    }

    private let plugins: Plugins
    private let state = Mutex(State())

    package init(_ plugins: Plugins) { self.plugins = plugins }

    deinit {
        let waiting = state.withLock { $0.waiting }
        guard !waiting.isEmpty else { return }
        Task { await Self.refused(waiting) }
    }

    private static func refused(_ waiting: [SuspendedLink]) async {
        for link in waiting.reversed() { await link.refused() }
    }

    /// Calls the plugins before the request is carried out, each with the changes of the one before.
    ///
    /// - Throws: ``TableRefusal`` if a plugin refuses it, ``SluiceError`` of code `hookFailed` if a required one fails;
    ///   `CancellationError`.
    package func before(_ question: inout TableQuestion) async throws {
        let old = state.withLock { state in
            defer { state = State(isAsked: true) }
            return state.waiting
        }
        await Self.refused(old)
        let set = plugins.current
        for link in set.table {
            guard let hook = link.hook(for: question) else { continue }
            let isShadow = link.caller.isShadow
            do {
                switch try await link.begin(hook, question, set.check(question.table)) {
                case .done(.refuse(let status, let message)):
                    if !isShadow { throw TableRefusal(status, link.caller.secrets.redact(message)) }
                case .done(.rows): break
                case .next(let suspended, let edit):
                    state.withLock { $0.waiting.append(suspended) }
                    if isShadow { continue }
                    if let record = edit.record { question.record = record }
                    if let filter = edit.filter {
                        question.filter = question.filter.map { .binary(.and, $0, filter) } ?? filter
                    }
                }
            } catch let failure as PluginFailure {
                try PluginHook(caller: link.caller, hook: hook).pass(
                    failure, table: question.table, recordID: question.recordID)
            }
        }
    }

    /// Calls the plugins with the answer, the innermost first. Plugins that were not called before the request run up
    /// to their `next` first: then `question` describes the finished request.
    ///
    /// - Returns: the records for the answer.
    /// - Throws: the errors of ``before(_:)``.
    package func after(_ rows: [JSON], _ question: TableQuestion) async throws -> [JSON] {
        if !state.withLock({ $0.isAsked }) {
            var question = question
            try await before(&question)
            try Self.requireVisible(rows, question)
        }
        let waiting = state.withLock { state in
            defer { state = State() }
            return state.waiting
        }
        var rows = rows
        for (index, suspended) in waiting.enumerated().reversed() {
            let isShadow = suspended.link.caller.isShadow
            do {
                switch try await suspended.goOn(rows) {
                case .rows(let shown): if !isShadow { rows = shown }
                case .refuse(let status, let message):
                    if isShadow { continue }
                    throw TableRefusal(status, suspended.link.caller.secrets.redact(message))
                }
            } catch {
                do {
                    guard let failure = error as? PluginFailure else { throw error }
                    try PluginHook(caller: suspended.link.caller, hook: suspended.hook).pass(
                        failure, table: question.table, recordID: question.recordID)
                } catch {
                    // The outer scripts learn that there is no answer.
                    await Self.refused(Array(waiting[..<index]))
                    throw error
                }
            }
        }
        return rows
    }

    /// Refuses to show records hidden by a filter of the plugins. They were not read from a table by a request, for
    /// example the record that a change is in conflict with.
    ///
    /// - Throws: ``TableRefusal`` (404).
    private static func requireVisible(_ rows: [JSON], _ question: TableQuestion) throws {
        guard question.hook == .read, let filter = question.filter else { return }
        let query = TableQuery(question.table, filter: filter, includesDeleted: true)
        guard let evaluator = try? TableQuery.Evaluator(query, schema: nil),
            evaluator.apply(to: rows).count == rows.count
        else { throw TableRefusal(404, "The item does not exist") }
    }

    /// Calls the conflict handlers.
    package func decide(_ conflict: Conflict) async throws -> ConflictDecision {
        try await plugins.conflictHandler.decide(conflict)
    }
}

/// A plugin's refusal of a request to a table.
package struct TableRefusal: Error, Sendable, Hashable {
    /// The answer's status: 400 to 599.
    package var status: Int
    /// The reason, without values of secrets.
    package var message: String

    init(_ status: Int, _ message: String) {
        self.status = status
        self.message = message
    }
}

extension Plugins {
    /// Returns the names of plugins with hooks around a server's tables, but for none of these tables.
    package func idle(onTables tables: [String]) -> [String] {
        current.table.filter { link in !tables.contains { link.isFor(table: $0) } }.map(\.caller.plan.name)
    }

    /// Whether a serving plugin handles requests to that table of a server, or conflicts in it.
    package func isAround(table: String) -> Bool {
        let set = current
        return set.table.contains { $0.isFor(table: table) } || set.conflict.contains { $0.hook.isFor(table: table) }
    }
}
