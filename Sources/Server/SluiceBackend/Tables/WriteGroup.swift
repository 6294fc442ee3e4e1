internal import HTTPTypes
internal import SluiceCore
internal import SluicePostgres

/// Changes that are carried out together or not at all.
///
/// Each part comes as far as its own transaction by itself, with its hooks outside of any, and waits here. When all
/// that are still under way are waiting, their writes run as one transaction, in the order of the parts. Where one
/// fails everything is rolled back; that part alone hears of it and may come again with another write (a hook was asked
/// anew, say). If it gives up, so do all.
actor WriteGroup {
    typealias Write = @Sendable (any StorageConnection) throws -> JSON

    private struct Waiting {
        var write: Write
        var continuation: CheckedContinuation<JSON, any Error>
    }

    private let database: any Storage
    /// The parts that have neither written nor ended.
    private var underWay: Set<Int>
    private var waiting: [Int: Waiting] = [:]
    /// Why all is rolled back.
    private var failure: Refusal?

    init(parts: some Sequence<Int>, _ database: any Storage) {
        underWay = Set(parts)
        self.database = database
    }

    /// Runs a part's write together with those of the others.
    ///
    /// - Throws: what `write` throws, and ``Refusal`` (424) where another part was refused.
    func write(_ part: Int, _ write: @escaping Write) async throws -> JSON {
        if let failure { throw failure }
        return try await withCheckedThrowingContinuation { continuation in
            waiting[part] = Waiting(write: write, continuation: continuation)
            commitIfComplete()
        }
    }

    /// Notes that a part came to its end. One that was refused takes the others with it; one that had been carried out
    /// before, as a repeat, does not.
    func end(_ part: Int, refusedAs name: String?) {
        guard underWay.remove(part) != nil else { return }
        guard let name else { return commitIfComplete() }
        let refusal = Refusal(
            .failedDependency,
            "not carried out: the request \(name) of the same atomicity group was refused")
        failure = refusal
        let others = waiting
        waiting = [:]
        for other in others.values { other.continuation.resume(throwing: refusal) }
    }

    private func commitIfComplete() {
        guard !underWay.isEmpty, waiting.count == underWay.count else { return }
        let parts = waiting.sorted { $0.key < $1.key }
        Task { await commit(parts.map { ($0.key, $0.value.write) }) }
    }

    private func commit(_ parts: [(part: Int, write: Write)]) async {
        do {
            // A failure of the database itself is no part's own: the storage knows what to do about it.
            let results = try await database.write { connection in
                try parts.map { part, write in
                    do {
                        return try write(connection)
                    } catch let error as PostgresFailure {
                        throw error
                    } catch {
                        throw PartFailure(part: part, error: error)
                    }
                }
            }
            for (part, result) in zip(parts.map(\.part), results) {
                underWay.remove(part)
                waiting.removeValue(forKey: part)?.continuation.resume(returning: result)
            }
        } catch let failure as PartFailure {
            waiting.removeValue(forKey: failure.part)?.continuation.resume(throwing: failure.error)
        } catch {
            let all = waiting
            waiting = [:]
            for one in all.values { one.continuation.resume(throwing: error) }
        }
    }

    private struct PartFailure: Error {
        var part: Int
        var error: any Error
    }
}
