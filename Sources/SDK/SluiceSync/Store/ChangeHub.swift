package import SluiceBase
internal import Synchronization

/// Publishes what the engine commits, in the order in which it was committed.
///
/// A transaction is watched as closely as somebody listens when it begins; while nobody does, it runs on the store's
/// own writer. Someone who begins to listen in its midst is told to read everything anew.
final class ChangeHub: Sendable {
    private struct Commit: Sendable {
        var source: ChangeSource
        var batch: ChangeBatch?
    }

    /// Each commit's source, whatever it changed.
    let commits = Broadcast<ChangeSource>()
    /// Batches for those who want to know of tables only.
    let tables = Broadcast<ChangeBatch>()
    /// Batches for those who want to know of records.
    let records = Broadcast<ChangeBatch>()
    private let order = Mutex(CommitOrder<Commit>())

    private var detail: ChangeDetail { records.isObserved ? .records : tables.isObserved ? .tables : .nothing }

    /// Runs `body` as one transaction of `store`, and publishes what it changed when it is committed.
    func write<Result: Sendable>(
        to store: any LocalStore, from source: ChangeSource, _ body: @Sendable (any StoreWriter) throws -> Result
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
        // Under the lock, so that nobody is told of a later commit first. Telling waits for nobody.
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
    /// Where commits are published; a context sets its own.
    var changes: ChangeHub? {
        get { publisher as? ChangeHub }
        set { publisher = newValue }
    }
}

extension LocalStore {
    /// Runs `body` as one transaction, reports its commit point before and after it, and publishes what it changed.
    ///
    /// - Parameter source: who changes records; nil for the one that belongs to the point.
    package func write<Result: Sendable>(
        at point: CommitPoint, _ environment: SyncEnvironment, from source: ChangeSource? = nil,
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
/// Transactions run one after the other, so a number taken inside one is its place. The tasks that made them go on in
/// any order: what comes early waits here until all before it have ended.
struct CommitOrder<Item: Sendable>: Sendable {
    private var next: UInt64 = 1
    private var first: UInt64 = 1
    private var ended: [UInt64: Item?] = [:]

    /// The number of the transaction that runs now.
    mutating func begin() -> UInt64 {
        defer { next += 1 }
        return next
    }

    /// Takes what is to be told of a transaction, nil for one that rolled back, and gives what can be told by now.
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

/// Who changed records of the local store.
public enum ChangeSource: String, Sendable, Hashable, CaseIterable {
    /// The application, or someone who repairs the queue.
    case local
    /// A push: the server's answer to a change that was made here.
    case push
    /// A pull.
    case pull
    /// A push that met a conflict: the decision's outcome.
    case conflict
    /// A purge.
    case purge
}

extension CommitPoint {
    /// Who changes records at that point, unless the caller names another.
    var source: ChangeSource {
        switch self {
        case .localChange, .schema, .key: .local
        case .sealed, .answered, .applied: .push
        case .page, .membership: .pull
        }
    }
}
