internal import HTTPTypes
internal import SluiceCore

/// One change of one record, as the tables' own routes carry it out.
struct PlannedChange: Sendable {
    enum Kind: Sendable {
        case insert
        case update(RecordID, replacing: Bool)
        case delete(RecordID)
    }

    let set: EntitySet
    let kind: Kind
    var request: TableRequest
    /// The link of the entity before that a new one belongs to, for the answer.
    var link: String?

    func carryOut() async throws -> Reply {
        let changes = RecordChanges(request)
        switch kind {
        case .insert: return try await changes.insert()
        case .update(let id, let replacing): return try await changes.update(id, replacing: replacing)
        case .delete(let id): return try await changes.delete(id)
        }
    }
}

/// What a request changes: one record, or several that are written in one transaction.
struct PlannedWrite: Sendable {
    var changes: [PlannedChange]
    /// Which of the changes the answer is about.
    var main: Int
    /// Makes the answer of the answers to all of the changes.
    var answer: @Sendable ([Reply]) throws -> ODataReply
    /// The id of the entity that is made; nil where none is.
    var newID: RecordID?
    /// Whether the request has an id by which a repeat is known, as refusals say too.
    var isRepeatable = false

    /// Carries the changes out by themselves.
    func reply() async throws -> ODataReply {
        do {
            return try await alone()
        } catch {
            throw marked(error)
        }
    }

    private func marked(_ error: any Error) -> any Error {
        guard isRepeatable, var refusal = error as? Refusal else { return error }
        RepeatableRequest.accept(&refusal.headers)
        return refusal
    }

    private func alone() async throws -> ODataReply {
        guard changes.count > 1, let database = changes.first?.request.served.database else {
            return try answer([try await changes[main].carryOut()])
        }
        let writes = WriteGroup(parts: changes.indices, database)
        return try answer(try await replies(writes, first: 0))
    }

    /// Carries the changes out together with others; `first` is the number of the first of them.
    func replies(_ writes: WriteGroup, first: Int) async throws -> [Reply] {
        let results = await withTaskGroup(of: (Int, Result<Reply, any Error>).self) { tasks in
            for (index, change) in changes.enumerated() {
                tasks.addTask {
                    var change = change
                    change.request.group = (writes, first + index)
                    do {
                        let reply = try await change.carryOut()
                        await writes.end(first + index, refusedAs: nil)
                        return (index, .success(reply))
                    } catch {
                        await writes.end(first + index, refusedAs: change.set.name)
                        return (index, .failure(error))
                    }
                }
            }
            var results: [(Int, Result<Reply, any Error>)] = []
            for await result in tasks { results.append(result) }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
        // The reason is the refusal that took the others with it.
        let failures = results.compactMap { result -> (any Error)? in
            if case .failure(let error) = result { error } else { nil }
        }
        let own = failures.first { ($0 as? Refusal)?.status != .failedDependency }
        if let failure = own ?? failures.first { throw marked(failure) }
        return try results.map { try $0.get() }
    }
}
