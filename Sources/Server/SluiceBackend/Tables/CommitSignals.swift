internal import SluiceCore
internal import Synchronization

/// Notifies change streams of their table's changes. A waiting stream costs only a continuation in a list. After a
/// commit there is one check of the database for each table with streams, for any number of streams.
final class CommitSignals: Sendable {
    /// The reason for resuming a waiting stream.
    enum Reason: Sendable {
        /// The table has changed.
        case changed
        /// A heartbeat is due.
        case heartbeat
        case ended
    }

    private struct State {
        var next = 0
        /// The waiting streams, by table.
        var waiting: [String: [Int: CheckedContinuation<Reason, Never>]] = [:]
        /// The number of observed changes of each table since the first wait for it.
        var generations: [String: Int] = [:]
        /// The newest observed change of each table.
        var latest: [String: Timestamp] = [:]
        var isLooking = false
        var hasMore = false
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())
    /// Reads a table's newest change.
    private let look: @Sendable (_ table: String) async -> Timestamp?

    init(look: @escaping @Sendable (String) async -> Timestamp?) { self.look = look }

    /// Returns the number of observed changes of the table, for ``wait(for:since:)``. It also starts the checks of the
    /// table's commits, so that none is missed between a following read and the wait.
    func generation(of table: String) -> Int {
        state.withLock { state in
            state.generations[table, default: 0] += 0
            return state.generations[table] ?? 0
        }
    }

    /// Waits for the table's next change, unless there was one after `generation`.
    func wait(for table: String, since generation: Int) async -> Reason {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                let reason: Reason? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .ended }
                    if state.generations[table] ?? 0 != generation { return .changed }
                    state.waiting[table, default: [:]][id] = turn
                    return nil
                }
                if let reason { turn.resume(returning: reason) }
            }
        } onCancel: {
            let turn = state.withLock { state in
                let turn = state.waiting[table]?.removeValue(forKey: id)
                if turn == nil { state.cancelled.insert(id) }
                return turn
            }
            turn?.resume(returning: .ended)
        }
    }

    /// Starts a check after a commit. Checks do not overlap: a commit during one starts another after it.
    func committed() {
        let begins = state.withLock { state in
            guard !state.generations.isEmpty else { return false }
            if state.isLooking {
                state.hasMore = true
                return false
            }
            state.isLooking = true
            return true
        }
        if begins { Task { await lookAround() } }
    }

    private func lookAround() async {
        repeat {
            let tables = state.withLock { state in
                state.hasMore = false
                return state.generations.keys.sorted()
            }
            for table in tables {
                guard let latest = await look(table) else { continue }
                let turns = state.withLock { state -> [CheckedContinuation<Reason, Never>] in
                    guard state.latest[table] != latest else { return [] }
                    state.latest[table] = latest
                    state.generations[table, default: 0] += 1
                    return state.waiting.removeValue(forKey: table).map { Array($0.values) } ?? []
                }
                for turn in turns { turn.resume(returning: .changed) }
            }
        } while state.withLock { state in
            if !state.hasMore { state.isLooking = false }
            return state.hasMore
        }
    }

    /// Makes every waiting stream send a heartbeat.
    func beat() {
        let turns = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting.values.flatMap(\.values)
        }
        for turn in turns { turn.resume(returning: .heartbeat) }
    }
}
