/// An operation that is about to be sent, with all that the session needs to know.
package struct PushItem: Sendable, Hashable {
    /// The operation, as it was stored when it was read.
    package var operation: TableOperation
    /// What is sent as the local record: that of the frozen body where the operation was in flight when a process
    /// ended, else the one the application sees.
    package var local: JSON?
    /// The server's record on which the change was made.
    package var base: JSON?

    package init(operation: TableOperation, local: JSON?, base: JSON?) {
        self.operation = operation
        self.local = local
        self.base = base
    }
}

/// What came back for an operation, reduced to what decides about it.
package struct PushAnswer: Sendable, Hashable {
    /// The status code.
    package var status: Int
    /// The server's record, if the body was one that carries a server version: only such a body is evidence.
    package var record: JSON?
    /// What the server says, for a person.
    package var message: String

    package init(status: Int, record: JSON? = nil, message: String = "") {
        self.status = status
        self.record = record
        self.message = message
    }
}

/// What the session is told.
package enum PushEvent: Sendable {
    /// The push begins.
    case began
    /// The next operation, or nil behind the last.
    case loaded(PushItem?)
    /// The record was edited before the operation was sealed; nothing was sent.
    case changed
    /// The server answered the operation; `item` is as it was sealed.
    case answered(PushItem, PushAnswer)
    /// The server's record as it is now, read by its id; nil if it has none, not even a deleted one.
    case readBack(JSON?)
    /// Whether the table itself answers.
    case probed(Bool)
    /// The handlers decided.
    case decided(ConflictDecision)
    /// The commit is done, or was not needed because the operation was changed or discarded meanwhile.
    case committed
    /// The operation was not answered; `item` is as it was sealed last. `wasSent` tells whether a request may have
    /// reached the server.
    case unanswered(PushItem, SluiceError, wasSent: Bool)
    /// A request that only reads, a handler or the store failed.
    case failed(SluiceError)
}

/// What the session wants done.
package enum PushEffect: Sendable {
    /// Read the next operation behind that place in the queue.
    case load(after: Int64)
    /// Seal and send the operation.
    case send(PushItem)
    /// Read the record by its id, deleted ones included.
    case readBack(table: String, recordID: String)
    /// See whether the table answers at all.
    case probe(table: String)
    /// Ask the conflict handlers, then the policy.
    case decide(Conflict)
    /// Write this, in one transaction.
    case commit(PushCommit)
    /// The push is over.
    case finish(PushEnd)
}

/// What one commit of a push writes.
package enum PushCommit: Sendable {
    /// The server has done it: the operation goes, and the server's record (nil: none) is rebased under newer edits.
    case applied(PushItem, server: JSON?)
    /// The server has an earlier revision of it: that is the new base, and the operation is sent again.
    case rebased(PushItem, server: JSON, sent: SentBody)
    /// The record is what its base was: there is nothing to say to the server.
    case unneeded(PushItem)
    /// The operation stays in that state with that failure.
    case kept(PushItem, TableOperation.State, TableOperation.Failure?, uncertain: Bool)
    /// The operation waits in that state for the conflict to be decided.
    case held(PushItem, TableOperation.State, TableOperation.Failure, Conflict)
    /// A conflict's decision.
    case decided(PushItem, Conflict, ConflictDecision)
}

/// Why a push ended.
package enum PushEnd: Sendable {
    /// All that could be sent was sent.
    case completed
    /// It ended early, for that reason.
    case stopped(SluiceError)
}
