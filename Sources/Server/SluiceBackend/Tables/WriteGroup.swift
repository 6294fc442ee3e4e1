internal import HTTPTypes
internal import SluiceCore
internal import SluicePostgres

/// Changes that are written in one transaction or not at all.
///
/// Each part runs on its own, hooks included, up to its write, and waits here. When all unfinished parts are waiting,
/// their writes run as one transaction, in the order of the parts. If one fails, everything is rolled back. Only that
/// part gets the error, and may return with another write (for example after calling a hook again). If it gives up, so
/// do all.
actor WriteGroup {
    typealias Write = @Sendable (any StorageConnection) throws -> JSON

    private struct Waiting {
        var write: Write
        var continuation: CheckedContinuation<JSON, any Error>
    }

    private let database: any Storage
    /// The unfinished parts.
    private var underWay: Set<Int>
    private var waiting: [Int: Waiting] = [:]
    /// The refusal of all parts; nil unless one was refused.
    private var failure: Refusal?

    init(parts: some Sequence<Int>, _ database: any Storage) {
        underWay = Set(parts)
        self.database = database
    }

    /// Runs a part's write together with the others' writes.
    ///
    /// - Throws: the error of `write`, and ``Refusal`` (424) if another part was refused.
    func write(_ part: Int, _ write: @escaping Write) async throws -> JSON {
        if let failure { throw failure }
        return try await withCheckedThrowingContinuation { continuation in
            waiting[part] = Waiting(write: write, continuation: continuation)
            commitIfComplete()
        }
    }

    /// Records the end of a part. A refused part ends the others too; a repeat that was executed before does not.
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
            // A failure of the database itself belongs to no part: the storage handles it.
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
