package import SluiceBase
internal import Synchronization

/// Publishes the engine's commits, in commit order.
///
/// The subscribers at a transaction's begin decide how closely it is recorded; without any, it runs on the store's own
/// writer. A subscriber that joins during such a transaction gets a batch that reloads everything.
final class ChangeHub: Sendable {
    private struct Commit: Sendable {
        var source: StoreChange.Source
        var batch: ChangeBatch?
    }

    /// The source of each commit, whatever it changed.
    let commits = Broadcast<StoreChange.Source>()
    /// Batches for subscribers to tables only.
    let tables = Broadcast<ChangeBatch>()
    /// Batches for subscribers to records.
    let records = Broadcast<ChangeBatch>()
    private let order = Mutex(CommitOrder<Commit>())

    private var detail: ChangeDetail { records.isObserved ? .records : tables.isObserved ? .tables : .nothing }

    /// Runs `body` as one transaction of `store`, and publishes its changes after the commit.
    func write<Result: Sendable>(
        to store: any LocalStore, from source: StoreChange.Source, _ body: @Sendable (any StoreWriter) throws -> Result
    ) async throws -> Result {
        let number = Mutex<UInt64?>(nil)
        do {
            let (result, changes) = try await store.write { writer -> (Result, RecordedChanges?) in
                begin(number)
                let detail = detail
                guard detail > .nothing else { return (try body(writer), nil) }
                let recorder = ChangeRecorder(writer, detail)
                return (try body(recorder), recorder.changes)
            }
            end(number) { number in
                let batch: ChangeBatch? =
                    if let changes {
                        changes.batch(number, from: source)
                    } else {
                        ChangeBatch(id: number, changes: [], reloads: .everything)
                    }
                return Commit(source: source, batch: batch)
            }
            return result
        } catch {
            end(number) { _ in nil }
            throw error
        }
    }

    private func begin(_ number: borrowing Mutex<UInt64?>) {
        // A store that runs a body again has rolled the first run back.
        end(number) { _ in nil }
        let next = order.withLock { $0.begin() }
        number.withLock { $0 = next }
    }

    private func end(_ number: borrowing Mutex<UInt64?>, _ commit: (UInt64) -> Commit?) {
        let taken = number.withLock { number -> UInt64? in
            defer { number = nil }
            return number
        }
        guard let taken else { return }
        let commit = commit(taken)
        // Under the lock, so that no subscriber gets a later commit first. Delivery never waits.
        order.withLock { order in
            for commit in order.end(taken, commit) {
                commits.send(commit.source)
                guard let batch = commit.batch else { continue }
                tables.send(batch)
                records.send(batch)
            }
        }
    }
}

extension SyncEnvironment {
    /// The publisher of commits; a context sets its own.
    var changes: ChangeHub? {
        get { publisher as? ChangeHub }
        set { publisher = newValue }
    }
}

extension LocalStore {
    /// Runs `body` as one transaction, reports its commit point before and after it, and publishes its changes.
    ///
    /// - Parameter source: the source of the changes; nil for the point's own source.
    package func write<Result: Sendable>(
        at point: CommitPoint, _ environment: SyncEnvironment, from source: StoreChange.Source? = nil,
        _ body: @Sendable (any StoreWriter) throws -> Result
    ) async throws -> Result {
        try await environment.reached(point, .before)
        let result: Result
        if let changes = environment.changes {
            result = try await changes.write(to: self, from: source ?? point.source, body)
        } else {
            result = try await write(body)
        }
        try await environment.reached(point, .after)
        return result
    }
}

/// Publishes commits in the order in which they were made.
///
/// Transactions run one after the other, so a number taken inside one is its place. Their tasks continue in any order:
/// an early commit waits here until all before it have ended.
struct CommitOrder<Item: Sendable>: Sendable {
    private var next: UInt64 = 1
    private var first: UInt64 = 1
    private var ended: [UInt64: Item?] = [:]

    /// Returns the number of the current transaction.
    mutating func begin() -> UInt64 {
        defer { next += 1 }
        return next
    }

    /// Takes the item of a transaction, nil after a rollback, and returns the items that can now be published.
    mutating func end(_ number: UInt64, _ item: Item?) -> [Item] {
        ended[number] = .some(item)
        var ready: [Item] = []
        while let item = ended.removeValue(forKey: first) {
            first += 1
            if let item { ready.append(item) }
        }
        return ready
    }
}

extension StoreChange {
    /// The cause of a change to records of the local store.
    public enum Source: String, Sendable, Hashable, CaseIterable {
        /// The application, or a repair of the queue.
        case local
        /// A push: the server's answer to a local change.
        case push
        /// A pull.
        case pull
        /// A push that met a conflict: the decision's outcome.
        case conflict
        /// A purge.
        case purge
    }
}

extension CommitPoint {
    /// The source of changes at that point, unless the caller names another.
    var source: StoreChange.Source {
        switch self {
        case .localChange, .schema, .key: .local
        case .sealed, .answered, .applied: .push
        case .page, .membership: .pull
        }
    }
}
