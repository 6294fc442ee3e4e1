internal import HTTPTypes
internal import SluiceCore

/// One change of one record, executed like a request to the tables' own routes.
struct PlannedChange: Sendable {
    enum Kind: Sendable {
        case insert
        case update(RecordID, replacing: Bool)
        case delete(RecordID)
    }

    let set: EntitySet
    let kind: Kind
    var request: TableRequest
    /// The owner's link to a new related entity, for the answer.
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

/// The changes of a request: one record, or several in one transaction.
struct PlannedWrite: Sendable {
    var changes: [PlannedChange]
    /// The index of the change that is answered.
    var main: Int
    /// Makes the answer from the replies to all changes.
    var answer: @Sendable ([Reply]) throws -> ODataReply
    /// The id of the new entity; nil if there is none.
    var newID: RecordID?
    /// Whether the request has a repeatability id, which refusals confirm too.
    var isRepeatable = false

    /// Executes the changes on their own.
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

    /// Executes the changes together with others; `first` is the index of the first change in the group.
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
        // The reported reason is the refusal that ended the others.
        let failures = results.compactMap { result -> (any Error)? in
            if case .failure(let error) = result { error } else { nil }
        }
        let own = failures.first { ($0 as? Refusal)?.status != .failedDependency }
        if let failure = own ?? failures.first { throw marked(failure) }
        return try results.map { try $0.get() }
    }
}
