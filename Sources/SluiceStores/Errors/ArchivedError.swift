public import SluiceBase
public import SluiceSync
internal import SluiceWire

/// A change that did not go through: the operation, the request as it was sent, and what was answered.
public struct ArchivedError: Sendable, Hashable, Identifiable {
    /// The operation, which waits in the queue for a decision.
    public let operation: TableOperation
    /// The record as the application sees it; nil where it was deleted here.
    public let affectedEntity: JSON?
    /// The body as it was sent last: as it went over the wire, in the service's own form. Where nothing was, the record as it
    /// would be sent. Null for a delete, and for what was no JSON.
    public let requestBody: JSON
    /// Whether the request went out at least once.
    public let wasSent: Bool

    /// The operation's id.
    public var id: String { operation.id }
    /// The method of the request as it was sent last (v2's updates are `MERGE`); where nothing was, that of its kind.
    public var requestMethod: String {
        if let request = operation.failure?.request { return request.method }
        return switch operation.kind {
        case .insert, .undelete: "POST"
        case .update: "PATCH"
        case .delete: "DELETE"
        }
    }
    /// The address of the request below the service's root, as it was sent last: `Orders(5)`, `tables/orders/5`. Where
    /// nothing was, that of the record in a store.
    public var requestAddress: String {
        if let request = operation.failure?.request { return request.address }
        if operation.kind == .insert { return operation.table }
        return "\(operation.table)('\(operation.recordID.text.replacing("'", with: "''"))')"
    }
    /// The status of the answer; nil where there was none.
    public var status: Int? { operation.failure?.status }
    /// The reason's code.
    public var code: String { operation.failure?.code ?? "" }
    /// The reason, for a person.
    public var message: String { operation.failure?.message ?? "" }
    /// Whether the service's record is another than the one that was changed, so that ``ErrorArchive/merge(_:_:)`` has
    /// something to merge with.
    public var isConflict: Bool {
        operation.failure?.serverRecord != nil || code == SluiceError.Code.conflict.description
    }

    /// The entry as a record of the set ``ErrorArchive/name``.
    var json: JSON {
        var record: JSON = [
            "id": JSON(id), "RequestID": JSON(operation.requestID), "RequestMethod": JSON(requestMethod),
            "RequestURL": JSON(requestAddress), "RequestBody": requestBody, "Code": JSON(code),
            "Message": JSON(message), "Table": JSON(operation.table), "RecordID": JSON(operation.recordID.text),
            "Kind": JSON(operation.kind.rawValue), "State": JSON(operation.state.rawValue),
            "Attempts": JSON(operation.attempts), "CreatedAt": JSON(operation.createdAt.description),
            "CustomTags": JSON(operation.tags.sorted().map { JSON($0) }), "AffectedEntity": affectedEntity ?? .null,
        ]
        record["HTTPStatusCode"] = status.map { JSON($0) } ?? .null
        record["ServerRecord"] = operation.failure?.serverRecord ?? .null
        record["CustomHeaders"] = operation.headers.document
        record["Group"] = operation.group.map { JSON($0) } ?? .null
        return record
    }
}
