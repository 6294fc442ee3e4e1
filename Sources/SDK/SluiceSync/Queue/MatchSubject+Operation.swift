internal import SluiceBase
public import SluiceWire

extension MatchSubject {
    /// A queued operation. Sampling goes by its record.
    public init(_ operation: TableOperation, status: Int? = nil, fieldsChanged: [String]? = nil) {
        self.init(
            table: operation.table, kind: RequestContext.Action(operation.kind), status: status,
            fieldsChanged: fieldsChanged, sampleKey: operation.recordID.text)
    }
}

extension RequestContext.Action {
    /// The action of the request for an operation of that kind.
    public init(_ kind: TableOperation.Kind) {
        switch kind {
        case .insert: self = .insert
        case .update: self = .update
        case .delete: self = .delete
        case .undelete: self = .undelete
        }
    }
}
