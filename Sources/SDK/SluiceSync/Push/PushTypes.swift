internal import SluiceBase

/// The answer to an operation, reduced to the facts that decide about it.
struct PushAnswer: Sendable, Hashable {
    /// The status code.
    package var status: Int
    /// The server's record, if the body has a server version: only such a body can be evidence.
    package var record: JSON?
    /// The version that an answer without a body states by its `ETag`.
    var tag: String?
    /// The server's message, for a person.
    package var message: String
    /// Whether the server refuses the request because of its id: it was first sent longer ago than the server
    /// remembers, by the clocks of both sides.
    var isIDRefused: Bool
    /// Whether the server remembers the outcome of requests with an id, as its answer to this one states.
    var remembersRequests = false
    /// Whether any attempt of this push may have reached the server, this answer considered.
    var mayBeSent = false
    /// The id of the created record by the answer's `Location`; nil if the answer names none.
    var created: RecordID?
    /// Whether there is no body.
    package var isEmpty: Bool
    /// Whether the answer is a web page, which a table server never sends.
    var isWebPage = false
    /// The body of a failure, for hooks.
    package var body: [UInt8] = []
    /// The delay that the server asked for (`Retry-After`).
    package var retryAfter: Duration?

    package init(
        status: Int, record: JSON? = nil, message: String = "", isIDRefused: Bool = false, isEmpty: Bool = false
    ) {
        self.status = status
        self.record = record
        self.message = message
        self.isIDRefused = isIDRefused
        self.isEmpty = isEmpty
    }
}

/// The server's current record, read to date the answer to a repeat. That may be a replay of the first answer, and a
/// record from a pull since may be older or newer.
struct Confirmation: Sendable, Hashable {
    /// The newest known record when the doubt arose, if it did; nil if the record was known to be gone.
    var doubted: JSON?
    /// The record that was read; nil if there is none.
    package var current: JSON?
}

/// The outcome of a commit.
enum PushWritten: Sendable, Hashable {
    /// The commit is written, or was not needed.
    case done
    /// Nothing is written: the answer may be older than the newest record known here, so their order has to be
    /// determined first.
    case doubtful(newest: JSON?)
}

/// One commit of a push.
indirect enum PushCommit: Sendable {
    /// The server has applied the operation: it leaves the queue, and newer edits are rebased onto the server's record
    /// (nil: none).
    case applied(PushItem, server: JSON?)
    /// The server has applied the operation; its record was read, because the answer may be a replay.
    case confirmed(PushItem, server: JSON, by: Confirmation)
    /// The server's record shows that an earlier send was applied (nil: unknown which one), or that nothing has to be
    /// done: the operation leaves the queue. Others may have changed the record since.
    case found(PushItem, server: JSON, sent: SentBody?)
    /// The server has no such record, and the operation was a delete: it leaves the queue.
    case gone(PushItem)
    /// The server has an earlier revision of the operation: that is the new base, and the operation is sent again.
    case rebased(PushItem, server: JSON, sent: SentBody)
    /// The server refuses its request id: it is sent again without one.
    case unidentified(PushItem)
    /// The answer is a replay for an earlier send, and the record made by it is gone: it is sent again as another
    /// revision.
    case renewed(PushItem)
    /// The record equals its base: there is nothing to send.
    case unneeded(PushItem)
    /// The operation stays in that state with that failure.
    case kept(PushItem, TableOperation.State, TableOperation.Failure?, uncertain: Bool)
    /// The operation waits in that state for the conflict to be decided.
    case held(PushItem, TableOperation.State, TableOperation.Failure, Conflict)
    /// A conflict's decision.
    case decided(PushItem, Conflict, ConflictDecision)
    /// A hook's decision.
    case hooked(PushItem, HookedCommit)

    /// The table for which the commit may store the server's record; nil if it stores none.
    var answeredTable: String? {
        switch self {
        case .applied(let item, _), .confirmed(let item, _, _), .found(let item, _, _), .gone(let item),
            .rebased(let item, _, _), .held(let item, _, _, _), .decided(let item, _, _):
            item.operation.table
        case .unidentified, .renewed, .unneeded, .kept, .hooked: nil
        }
    }
}

extension PushCommit {
    /// The source of the commit's changes.
    var source: StoreChange.Source {
        switch self {
        case .decided, .held: .conflict
        default: .push
        }
    }
}

/// Decides whether a server's answer may be a replay of an earlier one. A server that remembers request ids returns the
/// first response again; in the meantime others may have changed the record, and a pull may have brought that change.
struct ReplayedAnswer {
    let operation: TableOperation
    let columns: PushColumns

    /// Whether a pull has brought a later record than the answer's: a send applied just now would have found its base
    /// unchanged.
    func isOlder(_ server: JSON?, than state: RecordState?) -> Bool {
        guard operation.isUncertain, let state, state.mirror != nil || (server != nil && state.base != nil) else {
            return false
        }
        // The tombstone of an undelete is no longer known here.
        if operation.kind == .undelete, state.mirror == nil { return false }
        let known = version(state.mirror)
        return known != (sent.map(\.known) ?? version(state.base)) && known != version(server)
    }

    /// Whether an answer can be a replay without any sign of it. An insert or an undelete takes effect whatever the
    /// record was before, so the record may also have been deleted and created again just now.
    var mayBeOld: Bool { operation.isUncertain && (operation.kind == .insert || operation.kind == .undelete) }

    /// Whether the time order of such an answer and the newest known record is unknown.
    func isDoubtful(_ server: JSON, beside state: RecordState) -> Bool {
        guard let mirror = state.mirror else { return true }
        let known = version(mirror)
        return known != version(server) && (sent == nil || known != sent?.known)
    }

    private var sent: SentBody? { operation.sent.last { $0.revision == operation.revision } }

    private func version(_ record: JSON?) -> String? { record?[columns.version]?.string }
}
