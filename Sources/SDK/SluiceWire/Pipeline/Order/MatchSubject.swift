internal import HTTPTypes
internal import SluiceBase

/// The subject of a ``Match``: the known parts of a request, an answer or an operation.
public struct MatchSubject: Sendable {
    /// The table.
    public var table: String?
    /// The HTTP method, as on the wire: `PATCH`.
    public var method: String?
    /// The action on the record or the table.
    public var kind: RequestContext.Action?
    /// The status of the answer.
    public var status: Int?
    /// The host of the request, with or without a port.
    public var authority: String?
    /// The names of the record's fields that the change touches.
    public var fieldsChanged: [String]?
    /// The text that decides about a sample: the same text is in or out at all times and on all devices.
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

    /// A request about to be sent. It is sampled by its record, or else by its path. So all attempts and all changes
    /// of one record are in a sample, or none is.
    public init(_ request: Request) {
        self.init(
            table: request.context.table, method: request.head.method.rawValue, kind: request.context.action,
            authority: request.head.authority, sampleKey: request.context.recordID?.text ?? request.head.path)
    }
}
