internal import SluiceBase

/// The answer to an operation, reduced to what decides about it.
struct PushAnswer: Sendable, Hashable {
    /// The status code.
    package var status: Int
    /// The server's record, if the body was one that carries a server version: only such a body can be evidence.
    package var record: JSON?
    /// The server's message, for a person.
    package var message: String
    /// Whether the server refuses the request because of its id: it was first sent longer ago than the server
    /// remembers, by the clocks of both sides.
    var isIDRefused: Bool
    /// Whether the server remembers what requests with an id brought about: it says that it has honoured this one's.
    var remembersRequests = false
    /// Whether there is no body.
    package var isEmpty: Bool
    /// Whether a web page came, which no server of tables sends.
    var isWebPage = false
    /// The body, for hooks that are to see a failure.
    package var body: [UInt8] = []
    /// How long the server asked to be left alone.
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

/// The server's record as it is, read because the answer to a repeat may be what the server remembers of the first
/// send, and what a pull has brought meanwhile may be older or newer.
struct Confirmation: Sendable, Hashable {
    /// The newest record that was known when the doubt came up, if one did; nil where it was known to be gone.
    var doubted: JSON?
    /// The record as it was read; nil where there is none.
    package var current: JSON?
}

/// The outcome of a commit.
enum PushWritten: Sendable, Hashable {
    /// It is written, or was not needed.
    case done
    /// Nothing is written: whether the answer or this, the newest record that is known here, is the older one has to be
    /// found out first.
    case doubtful(newest: JSON?)
}

/// What one commit of a push writes.
indirect enum PushCommit: Sendable {
    /// The server has done it: the operation goes, and the server's record (nil: none) is rebased under newer edits.
    case applied(PushItem, server: JSON?)
    /// The server has done it; because that answer may be a replayed one, its record was read.
    case confirmed(PushItem, server: JSON, by: Confirmation)
    /// The server's record shows that an earlier send has done it (nil: it is unknown which one), or that nothing has
    /// to be done: the operation goes. Others may have changed the record since.
    case found(PushItem, server: JSON, sent: SentBody?)
    /// The server has no such record, and the operation was a delete: it goes.
    case gone(PushItem)
    /// The server has an earlier revision of it: that is the new base, and the operation is sent again.
    case rebased(PushItem, server: JSON, sent: SentBody)
    /// The server does not take its request id: it is sent again under none.
    case unidentified(PushItem)
    /// The server's answer is that to an earlier send, and what that has made is gone: it is sent again as another revision.
    case renewed(PushItem)
    /// The record is what its base was: there is nothing to send.
    case unneeded(PushItem)
    /// The operation stays in that state with that failure.
    case kept(PushItem, TableOperation.State, TableOperation.Failure?, uncertain: Bool)
    /// The operation waits in that state for the conflict to be decided.
    case held(PushItem, TableOperation.State, TableOperation.Failure, Conflict)
    /// A conflict's decision.
    case decided(PushItem, Conflict, ConflictDecision)
    /// A hook's decision.
    case hooked(PushItem, HookedCommit)

    /// The table of which the commit may store what the server has of a record; nil where it stores nothing of that.
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
    /// Who changes records by it.
    var source: ChangeSource {
        switch self {
        case .decided, .held: .conflict
        default: .push
        }
    }
}
