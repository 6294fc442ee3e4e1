internal import SluiceCore
internal import Synchronization

/// The error thrown to tasks of a process that has ended.
struct SimulatedCrash: Error {}

/// One run of a device's program, from its start to its end or its crash.
final class SimulatedProcess: Sendable {
    let device: Int
    let user: Int
    private let state = Mutex((isDead: false, crashes: ""))

    init(device: Int, user: Int) {
        self.device = device
        self.user = user
    }

    var isDead: Bool { state.withLock { $0.isDead } }
    /// The point at which the process ended.
    var place: String { state.withLock { $0.crashes } }

    /// Ends the process: all its later calls fail.
    func crash(_ place: @autoclosure () -> String) throws -> Never {
        end(place())
        throw SimulatedCrash()
    }

    func end(_ place: String) {
        state.withLock { state in
            if !state.isDead { state = (true, place) }
        }
    }

    func checkAlive() throws {
        if isDead { throw SimulatedCrash() }
    }
}

/// The transactions of a device's store in the order of their commits. Their callers may continue in another order, so
/// each transaction is noted at its end, inside, and passed on together with the earlier ones.
final class SimulatedCommits: Sendable {
    private struct State {
        var tickets = 0
        var ended: [(ticket: Int, transaction: SimulatedTransaction)] = []
    }

    private let state = Mutex(State())

    /// Returns a number for a transaction that is about to begin.
    func begin() -> Int {
        state.withLock {
            $0.tickets += 1
            return $0.tickets
        }
    }

    /// Notes that the transaction has finished its work and is about to be committed.
    func end(_ ticket: Int, _ transaction: SimulatedTransaction) {
        state.withLock { $0.ended.append((ticket, transaction)) }
    }

    /// Removes a transaction that was not committed.
    func drop(_ ticket: Int) { state.withLock { $0.ended.removeAll { $0.ticket == ticket } } }

    /// Returns the transactions up to this one that were not passed on yet.
    func take(through ticket: Int) -> [SimulatedTransaction] {
        state.withLock { state in
            guard let index = state.ended.firstIndex(where: { $0.ticket == ticket }) else { return [] }
            defer { state.ended.removeFirst(index + 1) }
            return state.ended[...index].map(\.transaction)
        }
    }
}

/// A column of every record that stays on its device: it holds the application's last value, and no request contains
/// it.
enum SimulatedMemo {
    static let column: PropertyName = "memo"

    /// Returns the local-only columns of the story, if it has any.
    static func localOnly(_ setting: SimulationSetting) -> LocalOnly? {
        setting.keepsMemos ? LocalOnly(columns: ["items": [column], "notes": [column]]) : nil
    }

    /// Returns the record without the column, as the server may see it.
    static func without(_ record: JSON) -> JSON {
        guard record[column] != nil else { return record }
        var record = record
        record[column] = nil
        return record
    }
}

extension LocalOnly {
    /// Stores the declaration before the story begins, while no fault happens.
    func remember(in store: any LocalStore) async throws {
        var options = SyncOptions()
        options.localOnly = self
        _ = try await SyncContext(store: store, options: options)
    }
}
