internal import HTTPTypes
internal import SluiceBase

/// What a ``Match`` looks at: as much of a request, an answer or an operation as is known.
public struct MatchSubject: Sendable {
    /// The table.
    public var table: String?
    /// The HTTP method, as it is written on the wire: `PATCH`.
    public var method: String?
    /// What is done to the record or the table.
    public var kind: RequestContext.Action?
    /// The status of the answer.
    public var status: Int?
    /// The host that the request goes to, a port after it or not.
    public var authority: String?
    /// The names of the record's fields that the change touches.
    public var fieldsChanged: [String]?
    /// What decides whether the thing is in a sample: the same text is in or out at all times and on all devices.
    public var sampleKey: String?

    /// A subject.
    public init(
        table: String? = nil, method: String? = nil, kind: RequestContext.Action? = nil, status: Int? = nil,
        authority: String? = nil, fieldsChanged: [String]? = nil, sampleKey: String? = nil
    ) {
        self.table = table
        self.method = method
        self.kind = kind
        self.status = status
        self.authority = authority
        self.fieldsChanged = fieldsChanged
        self.sampleKey = sampleKey
    }

    /// A request that is about to be sent. It is sampled by its record, or else by its path, so that all attempts and
    /// all changes of one record are in a sample, or none is.
    public init(_ request: Request) {
        self.init(
            table: request.context.table, method: request.head.method.rawValue, kind: request.context.action,
            authority: request.head.authority, sampleKey: request.context.recordID?.text ?? request.head.path)
    }
}
