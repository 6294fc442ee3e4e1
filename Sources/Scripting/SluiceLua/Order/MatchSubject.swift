internal import HTTPTypes
package import SluiceCore

/// The subject of a ``Match``: the known parts of a request, an answer or an operation.
package struct MatchSubject: Sendable {
    /// The table.
    package var table: String?
    /// The HTTP method, as on the wire: `PATCH`.
    package var method: String?
    /// The action on the record or the table.
    package var kind: SyncRequest.Context.Action?
    /// The status of the answer.
    package var status: Int?
    /// The host of the request, with or without a port.
    package var authority: String?
    /// The names of the record's fields that the change touches.
    package var fieldsChanged: [String]?
    /// The text that decides about a sample: the same text is in or out at all times and on all devices.
    package var sampleKey: String?

    /// A subject.
    package init(
        table: String? = nil, method: String? = nil, kind: SyncRequest.Context.Action? = nil, status: Int? = nil,
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
    init(_ request: SyncRequest) {
        self.init(
            table: request.context.table, method: request.head.method.rawValue, kind: request.context.action,
            authority: request.head.authority, sampleKey: request.context.recordID?.text ?? request.head.path)
    }
}

extension MatchSubject {
    /// A queued operation. Sampling goes by its record.
    package init(_ operation: TableOperation, status: Int? = nil, fieldsChanged: [String]? = nil) {
        self.init(
            table: operation.table, kind: SyncRequest.Context.Action(operation.kind), status: status,
            fieldsChanged: fieldsChanged, sampleKey: operation.recordID.text)
    }
}

extension SyncRequest.Context.Action {
    /// The action of the request for an operation of that kind.
    init(_ kind: TableOperation.Kind) {
        switch kind {
        case .insert: self = .insert
        case .update: self = .update
        case .delete: self = .delete
        case .undelete: self = .undelete
        }
    }
}
