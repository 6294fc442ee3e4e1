internal import HTTPTypes
public import SluiceBase

extension SyncRequest {
    /// The purpose of a request: its table, record, operation and sender.
    public struct Context: Sendable {
        /// The sender of the request.
        public enum Source: String, Sendable, Hashable {
            /// The application, through an online table.
            case online
            /// A push of queued operations.
            case push
            /// A pull.
            case pull
        }

        /// The action of the request.
        public enum Action: String, Sendable, Hashable, CaseIterable {
            /// A list of records.
            case read
            /// A lookup of one record.
            case lookup
            /// The changes of a record.
            case insert, update, delete, undelete
            /// A call without a table.
            case custom
        }

        /// The sender of the request.
        public var source: Source
        /// The action of the request.
        public var action: Action
        /// The table, if the request concerns one.
        public var table: String?
        /// The record, if the request concerns one.
        public var recordID: RecordID?
        /// The queued operation, on a push.
        public var operationID: String?
        /// The tags of the queued operation, on a push.
        public var tags: Set<String> = []
        /// The version of the record that the change was made on, for changes whose body does not hold it.
        public var version: String?
        /// The number of sends before this one: 0 the first time.
        public var attempt: Int
        /// The callback of an adapter for the request that it is about to send, with the part's id in a batch.
        package var noteSent: (@Sendable (_ part: String?, SyncRequest.Sent) -> Void)?
        /// The queued operation that a push sends with the request; nil where it sends none.
        package var member: String?
        /// Whether a request for the same change may have reached the server before.
        package var mayBeRepeat = false
        /// Whether a creation brings a record back that the server had, or repeats one: it has properties of the server's.
        package var isRemade = false
        /// Whether a request for the same change may have taken effect before: it was sent, and no answer shows its
        /// outcome.
        package var mayBeApplied = false
        /// Whether that earlier request may still be under way at the server, as after a gateway's 504.
        package var mayBeUnderWay = false
        /// The parts of a batch that may have taken effect before.
        package var partsInDoubt: Set<String> = []
        /// The parts of a batch that bring a record back.
        package var partsRemade: Set<String> = []
        /// The parts of a batch of which an earlier request may still be under way.
        package var partsUnderWay: Set<String> = []
        /// The callback of an adapter for the outcome of a creation whose key the service assigns, with the part's id in a
        /// batch.
        package var noteCreated: (@Sendable (_ part: String?, AssignedKeyNote) -> Void)?
        /// The system columns to request, by the wire's names, in place of the client's selection; nil keeps the
        /// selection.
        package var systemProperties: [PropertyName]?
        /// The limits for transports; the limits filter sets them.
        public var limits: SyncRequest.Limits
        /// The features that the request uses, for the server's information.
        public var features: SyncRequest.Features
        /// The part of a list that the request asks for.
        package var paging = Paging()
        /// The values of the body's properties before a codec translated them for the server; nil for none.
        package var untranslated: JSON?
        /// Whether the address is the server's own link, whose constants are in the server's form already.
        package var isLinked = false
        /// The values that the plugins of one exchange share.
        package var exchange: (any AnyObject & Sendable)?
        /// The client's credentials, which no error may repeat.
        var credentials: CredentialBook?

        /// A context.
        public init(
            source: Source = .online, action: Action = .custom, table: String? = nil, recordID: RecordID? = nil,
            operationID: String? = nil, version: String? = nil, attempt: Int = 0,
            limits: SyncRequest.Limits = SyncRequest.Limits(),
            features: SyncRequest.Features = []
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
}

/// The outcome of a creation whose key the service assigns, where no property of the row holds the record's id.
package enum AssignedKeyNote: Sendable, Hashable {
    /// The row exists, and its record has that id from now on; the value is the key as the value of a property.
    case assigned(RecordID, JSON)
    /// The row may exist; the text is the reason for the doubt, for a person.
    case unknown(String)
}

/// The rest of a list from a page on.
package struct Paging: Sendable, Hashable {
    /// The number of rows still to read; nil means all.
    package var remaining: Int?
    /// The id of the first row of the page before. It reveals a server that ignores `$skip`.
    var previousFirst: RecordID?

    package init(remaining: Int? = nil, previousFirst: RecordID? = nil) {
        self.remaining = remaining
        self.previousFirst = previousFirst
    }
}

extension SyncRequest {
    /// The limits of one exchange.
    public struct Limits: Sendable, Hashable {
        /// The largest answer, decoded, in bytes. Default 16 MiB.
        public var responseBytes: Int
        /// The maximum number of names and values in a JSON answer. Each takes memory besides the answer's bytes, which
        /// may be only two. Default 1,000,000, which is 40,000 rows of 12 columns.
        public var responseValues: Int
        /// The maximum time of an exchange, from the first byte sent to the last received. Default 100 s.
        public var deadline: Duration
        /// The minimum rate of an answer, in bytes a second, once ``grace`` is over. Default 100.
        public var minimumRate: Int
        /// The time until an answer must reach the minimum rate. Default 10 s.
        public var grace: Duration

        /// Limits; each has a default.
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

        /// The message about an answer that is too large, with the names of the setting.
        package var tooLarge: String {
            "the answer is larger than \(responseBytes.counted("byte")) (limits.answer-bytes, Limits.responseBytes)"
        }

        /// The message about an exchange that takes too long.
        package var tooLong: String { "took longer than \(deadline) (limits.request-time, Limits.deadline)" }
    }
}

extension SyncRequest {
    /// A change's request as it went over the wire, after all filters and in the service's own protocol.
    public struct Sent: Sendable, Hashable {
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

        /// Extracts the kept parts of a request to that endpoint.
        package init(_ request: SyncRequest, to endpoint: Endpoint) {
            let path = (request.head.path ?? "").prefix { $0 != "?" }
            let root = endpoint.path + "/"
            let address = path.hasPrefix(root) ? path.dropFirst(root.count) : path
            self.init(
                method: request.head.method.rawValue, address: String(address), body: (try? request.body.json) ?? .null)
        }
    }
}
