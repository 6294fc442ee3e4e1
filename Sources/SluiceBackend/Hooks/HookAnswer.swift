public import SluiceCore

/// What a request brought about, before it is answered; see ``TableHooks/after(_:)``.
public struct HookAnswer: Sendable {
    /// The table's name.
    public let table: String
    /// What the request did.
    public let operation: BackendOperation
    /// Whom it came from; nil where it brought no token.
    public let principal: Principal?
    /// The records of the answer: one, or a list's page. What is changed here changes the answer and not what is
    /// stored; to hide records narrow the request's filter instead, so that pages and counts know of it.
    public var records: [JSON]

    /// The first of the records: the one, where the request is about one. After a delete it is the last that was known.
    public var record: JSON? {
        get { records.first }
        set {
            if !records.isEmpty { records.removeFirst() }
            if let newValue { records.insert(newValue, at: 0) }
        }
    }

    init(_ session: TableSession, _ records: [JSON]) {
        table = session.table.name
        operation = session.operation
        principal = session.principal
        self.records = records
    }
}
