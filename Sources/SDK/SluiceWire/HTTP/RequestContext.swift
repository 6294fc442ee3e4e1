internal import HTTPTypes
public import SluiceBase

/// What a request is for: which table, record and operation, and who sends it.
public struct RequestContext: Sendable {
    /// Who sends the request.
    public enum Source: String, Sendable, Hashable {
        /// The application, through an online table.
        case online
        /// A push of queued operations.
        case push
        /// A pull.
        case pull
    }

    /// What the request does.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// A list of records.
        case read
        /// One record.
        case lookup
        /// The changes of a record.
        case insert, update, delete, undelete
        /// A call that belongs to no table.
        case custom
    }

    /// Who sends the request.
    public var source: Source
    /// What it does.
    public var action: Action
    /// The table, where it is about one.
    public var table: String?
    /// The record, where it is about one.
    public var recordID: RecordID?
    /// The queued operation, on a push.
    public var operationID: String?
    /// The tags of the queued operation, on a push.
    public var tags: Set<String> = []
    /// The version of the record that the change was made on, for changes whose body does not hold it.
    public var version: String?
    /// How often the request has been sent before: 0 the first time.
    public var attempt: Int
    /// What is to happen with the final request before its first byte is sent; the seal filter calls it, and what it
    /// returns goes out. On a push the engine records it here and gives it its id.
    package var seal: (@Sendable (Request) async throws -> Request)?
    /// What is to happen when an attempt that was sealed has certainly not reached the server: no connection came
    /// about.
    package var unsealed: (@Sendable () -> Void)?
    /// Told by an adapter what it is about to send for the request, or for the part of that id where it is a batch.
    package var noteSent: (@Sendable (_ part: String?, SentRequest) -> Void)?
    /// The operation, where its request may go with others in one batch.
    package var batchMember: String?
    /// Whether a request for the same change may have reached the server before.
    package var mayBeRepeat = false
    /// Whether a request for the same change may have taken effect before: it went out, and no answer shows what became
    /// of it.
    package var mayBeApplied = false
    /// The parts of a batch of which that is so.
    package var partsInDoubt: Set<String> = []
    /// Told by an adapter what became of a creation whose key the service assigns, or of the part of that id where it is
    /// one of a batch.
    package var noteCreated: (@Sendable (_ part: String?, AssignedKeyNote) -> Void)?
    /// Which system columns to ask for, by the wire's names, in the place of the client's selection; nil leaves it.
    package var systemProperties: [PropertyName]?
    /// The bounds that transports keep to; the limits filter sets them.
    public var limits: Limits
    /// What the request makes use of, as the server is informed.
    public var features: RequestFeatures
    /// Which part of a list the request asks for.
    package var paging = Paging()

    /// A context.
    public init(
        source: Source = .online, action: Action = .custom, table: String? = nil, recordID: RecordID? = nil,
        operationID: String? = nil, version: String? = nil, attempt: Int = 0, limits: Limits = Limits(),
        features: RequestFeatures = []
    ) {
        self.source = source
        self.action = action
        self.table = table
        self.recordID = recordID
        self.operationID = operationID
        self.version = version
        self.attempt = attempt
        self.limits = limits
        self.features = features
    }
}

/// What became of a creation whose key the service assigns, where no property of the row holds the record's id.
package enum AssignedKeyNote: Sendable, Hashable {
    /// The row is there, and its record has that id from now on; the value is the key as a property has it.
    case assigned(RecordID, JSON)
    /// It may be there; why that is not known, for a person.
    case unknown(String)
}

/// What is left of a list from a page on.
package struct Paging: Sendable, Hashable {
    /// How many rows are still wanted; nil means all.
    package var remaining: Int?
    /// The id of the first row of the page before, by which a server is found out that ignores `$skip`.
    var previousFirst: RecordID?

    package init(remaining: Int? = nil, previousFirst: RecordID? = nil) {
        self.remaining = remaining
        self.previousFirst = previousFirst
    }
}

/// The bounds of one exchange.
public struct Limits: Sendable, Hashable {
    /// The largest answer, decoded, in bytes. Default 16 MiB.
    public var responseBytes: Int
    /// How many names and values an answer that is JSON may have. Each takes memory beside the answer's bytes, and may
    /// be two of them. Default 1,000,000, which is 40,000 rows of 12 columns.
    public var responseValues: Int
    /// The longest an exchange may take, from the first byte sent to the last received. Default 100 s.
    public var deadline: Duration
    /// The slowest rate at which an answer may arrive, in bytes a second, once ``grace`` is over. Default 100.
    public var minimumRate: Int
    /// How long an answer may take to get up to the slowest rate. Default 10 s.
    public var grace: Duration

    /// Bounds.
    public init(
        responseBytes: Int = 16 << 20, responseValues: Int = 1_000_000, deadline: Duration = .seconds(100),
        minimumRate: Int = 100,
        grace: Duration = .seconds(10)
    ) {
        self.responseBytes = responseBytes
        self.responseValues = responseValues
        self.deadline = deadline
        self.minimumRate = minimumRate
        self.grace = grace
    }

    /// Why an answer is not taken that is too large, with the names of the setting.
    package var tooLarge: String {
        "the answer is larger than \(responseBytes.counted("byte")) (limits.answer-bytes, Limits.responseBytes)"
    }

    /// The same of an exchange that takes too long.
    package var tooLong: String { "took longer than \(deadline) (limits.request-time, Limits.deadline)" }
}

/// A change's request as it went over the wire: what the service was asked, after all filters and in the service's own
/// protocol.
public struct SentRequest: Sendable, Hashable {
    /// The method.
    public var method: String
    /// The address below the endpoint, percent-encoded and without the query.
    public var address: String
    /// The body; null for none, and for one that is no JSON.
    public var body: JSON

    /// A request.
    public init(method: String, address: String, body: JSON = .null) {
        self.method = method
        self.address = address
        self.body = body
    }

    /// What of a request to that endpoint is kept.
    package init(_ request: Request, to endpoint: Endpoint) {
        let path = (request.head.path ?? "").prefix { $0 != "?" }
        let root = endpoint.path + "/"
        let address = path.hasPrefix(root) ? path.dropFirst(root.count) : path
        self.init(
            method: request.head.method.rawValue, address: String(address), body: (try? request.body.json) ?? .null)
    }
}
